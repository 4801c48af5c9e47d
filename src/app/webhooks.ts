/** The webhooks of the triggers that `up` keeps, and the address for answers from outside. */

import { type ListenAddress, type RunningListener, startListener } from '../hooks/listener.ts';
import { isSystemError, reasonOf } from '../journal/disk-errors.ts';
import type { Door } from '../model/notice.ts';
import { UserError } from '../model/user-error.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import { readConfiguration } from '../world/config/configuration.ts';
import { missingText, remedyFor, runSecrets } from '../world/secrets.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { answerFromDelivery, type CodeUsed } from './answer-by-code.ts';
import { relaunch } from './resume.ts';
import { type KeptWebhook, takeDeliveries } from './take-deliveries.ts';
import type { Up } from './up.ts';

export interface WebhookParts {
  readonly around: Surroundings;
  readonly up: Pick<Up, 'triggers' | 'occur'>;
  readonly door: Door;
  /** One line about something that happened. */
  readonly log: (text: string) => void;
}

/** Throws a UserError if two workflows have the same webhook, or if the address cannot be used. */
export async function listenForWebhooks(
  parts: WebhookParts,
  address: ListenAddress,
): Promise<RunningListener> {
  const { around, up, log } = parts;
  const [clash] = clashes(up.triggers());
  if (clash) throw new UserError('same-webhook', clash, 'Rename one of them, or omit its project.');
  const secret = secrets(log);
  const { answersSecret } = (await readConfiguration(around.project)).user.options;
  const said = new Set<string>();
  // They change with the files of workflows.
  const webhooks = () => {
    const all = up.triggers();
    for (const text of clashes(all).filter((one) => !said.has(one))) {
      said.add(text);
      log(text);
    }
    return webhooksIn(all);
  };
  const names = [...webhooks().values()].flatMap(({ trigger }) => trigger.secret ?? []);
  // Their problems are reported now, and not at the first delivery.
  for (const name of new Set([...names, ...(answersSecret ? [answersSecret] : [])]))
    await secret(name);
  const receive = takeDeliveries({
    webhooks,
    record: async (webhook, { id, text }) => {
      const cause = { kind: 'webhook', delivery: id } as const;
      return (await up.occur(webhook, cause, text)).kind;
    },
    secret,
    answers: answersSecret
      ? { secret: answersSecret, take: (payload) => answerAndContinue(parts, payload) }
      : undefined,
    now: around.clock.now,
    report: log,
  });
  return startListener(address, receive).catch((error) => {
    if (!isSystemError(error)) throw error;
    throw new UserError(
      'cannot-listen',
      `Raymond cannot listen on ${addressText(address)}: ${reasonOf(error)}.`,
      'Name another address with --listen.',
    );
  });
}

/** The first of each name. */
function webhooksIn(triggers: ReturnType<Up['triggers']>): ReadonlyMap<string, KeptWebhook> {
  const found = new Map<string, KeptWebhook>();
  for (const { trigger, ...one } of triggers)
    if (trigger.kind === 'webhook' && !found.has(trigger.name))
      found.set(trigger.name, { ...one, trigger });
  return found;
}

/** A sentence about each webhook whose name another workflow has. */
function clashes(triggers: ReturnType<Up['triggers']>): readonly string[] {
  const first = webhooksIn(triggers);
  return triggers.flatMap(({ trigger, key }) => {
    if (trigger.kind !== 'webhook') return [];
    const { workflow } = first.get(trigger.name)?.key ?? key;
    if (workflow === key.workflow) return [];
    return [`The workflows ${workflow} and ${key.workflow} both have the webhook ${trigger.name}.`];
  });
}

/** Reads a secret at most once a minute, whatever strangers send. */
function secrets(log: (text: string) => void): (name: string) => Promise<string | undefined> {
  const known = new Map<
    string,
    { readonly at: number; readonly value: Promise<string | undefined> }
  >();
  const read = async (name: string) => {
    const values = runSecrets();
    const problem = (await values.problems([name])).get(name);
    if (problem === undefined) return values.valueOf(name);
    log(`${missingText(name, problem)} Its deliveries are refused. ${remedyFor(name)}`);
    return undefined;
  };
  return (name) => {
    const now = performance.now();
    const found = known.get(name);
    if (found && now - found.at < FRESH_MS) return found.value;
    const value = read(name);
    known.set(name, { at: now, value });
    return value;
  };
}

const FRESH_MS = 60_000;

/** A run that waits without a process continues with its answer. */
async function answerAndContinue(
  { around, door, log }: WebhookParts,
  payload: unknown,
): Promise<CodeUsed> {
  const used = await answerFromDelivery(around, payload);
  const { run, project, isCarried } = used;
  log(`An answer came for ${run}.`);
  if (isCarried || project === undefined) return used;
  try {
    await relaunch(await around.inProject(project, 'none'), run, {}, door);
    log(`Resumed ${run}, which waited for it.`);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    log(`Cannot resume ${run}: ${error.message} ${error.remedy}`);
  }
  return used;
}

/** `127.0.0.1:8788`, `[::1]:8788`, or a port of this machine only. */
export function readListenAddress(text: string): ListenAddress {
  const [, six, host, port = ''] =
    /^(?:(?:\[([\da-f:.]+)\]|([\w.-]+)):)?(\d{1,5})$/i.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535)
    throw wrongUsage(`--listen is "${text}".`, 'Write an address and a port, like 127.0.0.1:8788.');
  return { host: six ?? host ?? '127.0.0.1', port: Number(port) };
}

export const addressText = ({ host, port }: ListenAddress): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Whether only programs of this machine can reach it. */
export const isLocal = ({ host }: ListenAddress): boolean =>
  host === 'localhost' || host === '::1' || /^127\./.test(host);
