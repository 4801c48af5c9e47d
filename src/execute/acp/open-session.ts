/** Opens the session of a turn in a process, with the settings of the step. */
import type { NewSessionRequest } from '@agentclientprotocol/sdk/unstable';
import type { FailureKind } from '../../model/failure.ts';
import type { Usage } from '../../model/step-account.ts';
import { mayEdit } from '../agents/agent-choices.ts';
import { sourceOf } from '../steps/kept-notes.ts';
import type { Adapter } from './adapter.ts';
import {
  type AcpOptions,
  type AcpStep,
  type AgentProcess,
  ANSWER_MS,
  type OpenSession,
  Unable,
} from './agent-process.ts';
import { Disconnected, Refused } from './connection.ts';
import { plainName } from './cost.ts';
import { failureOf } from './failures.ts';
import { Overheard } from './overheard.ts';
import { readSession, settingRequest } from './protocol.ts';
import {
  type Own,
  readTurn,
  type SessionNote,
  type SessionNotes,
  type SessionSettings,
  type Setting,
} from './records.ts';

export interface TurnSession {
  /** As the agent names it. */
  readonly id: string;
  readonly open: OpenSession;
  /** The cost before the turn, as the agent counts it. */
  readonly beforeUsd: number;
  /** Its tokens, if the agent states them. */
  readonly beforeUsage: Usage | undefined;
}

/** Rejects with `Disconnected`, `Refused` or `Unable`. */
export async function openSession(
  options: AcpOptions,
  notes: SessionNotes,
  process: AgentProcess,
  step: AcpStep,
): Promise<TurnSession> {
  const { session } = step;
  const source = sourceOf(session);
  // A session may have two names. The note of the agent's own name is the newest.
  const named = notes.read(source)?.session ?? source;
  const note = notes.read(named);
  const id = await sessionFor(options, process, step, named, note);
  const open = process.sessions.get(id);
  if (!open) throw new Error('Bug: the session is not open');
  if (open.isEmpty && session.use === 'continue' && !isFirstTurn(options, step))
    throw unable(
      'session-gone',
      `${options.name} has no messages of the session any more. Resume with --fresh to begin the state in a new session.`,
    );
  await adjust(options, process, id, open, step);
  const isCounted =
    options.totals === 'copied' || (options.totals === 'kept' && session.use === 'continue');
  const earlier = isCounted && session.use !== 'fresh' ? note : undefined;
  return {
    ...{ id, open },
    beforeUsd: open.countedUsd ?? earlier?.totalUsd ?? 0,
    beforeUsage: open.countedUsage ?? earlier?.totalUsage,
  };
}

/** Some agents keep nothing of a session before its first answer, so a lost first turn leaves nothing. */
function isFirstTurn({ name, processes }: AcpOptions, { previousFolder }: AcpStep): boolean {
  if (previousFolder === undefined) return false;
  return readTurn(processes.seals, previousFolder, name)?.prompt?.isFirst === true;
}

async function sessionFor(
  options: AcpOptions,
  process: AgentProcess,
  { session, cwd, skipsProject }: AcpStep,
  named: string,
  note: SessionNote | undefined,
): Promise<string> {
  const { abilities, sessions } = process;
  const meta = (skipsProject ? options.skipping?.meta : undefined) ?? options.meta;
  const anew = { cwd, mcpServers: [], ...(meta && { _meta: { ...meta } }) };
  const there = { ...anew, sessionId: named };
  switch (session.use) {
    case 'fresh':
      return opened(options, process, 'session/new', anew, 'refused');
    case 'branch':
      if (abilities.fork)
        return opened(options, process, 'session/fork', there, 'session-gone', note);
      throw unable(
        'refused',
        `${options.name} cannot branch sessions: it does not offer session/fork. Use a function or a reset instead of a call, or another agent.`,
      );
    case 'continue':
      if (sessions.get(named)?.cwd === cwd) return named;
      if (abilities.resume)
        return opened(options, process, 'session/resume', there, 'session-gone', note);
      if (abilities.load)
        return opened(options, process, 'session/load', there, 'session-gone', note);
      throw unable(
        'session-gone',
        `${options.name} cannot load sessions of an earlier process. Resume with --fresh to begin the state in a new session.`,
      );
  }
}

async function opened(
  { name, adapter }: AcpOptions,
  { abilities, connection, sessions }: AgentProcess,
  method: string,
  params: NewSessionRequest & { readonly sessionId?: string },
  fallback: FailureKind,
  note?: SessionNote,
): Promise<string> {
  const overheard = new Overheard(connection);
  let result: unknown;
  try {
    result = await connection.request(method, params, adapter ? ADAPTER_MS : ANSWER_MS);
  } catch (error) {
    overheard.stop();
    if (adapter && error instanceof Disconnected && error.message !== '')
      throw unable('refused', `${name}: ${error.message} ${versionHint(adapter)}`);
    if (!(error instanceof Refused)) throw error;
    const agent = { name, logins: abilities.logins };
    const failure = failureOf(agent, error.error, Date.now(), fallback);
    const hint = adapter && failure.kind === 'refused' ? ` ${versionHint(adapter)}` : '';
    throw new Unable({ ...failure, message: `${failure.message}${hint}` });
  }
  const { id: given, ...settings } = readSession(result);
  // Only new sessions get an id.
  const isNew = method === 'session/new' || method === 'session/fork';
  const id = isNew ? given : (params.sessionId ?? '');
  if (adapter) await overheard.heard(id, adapter.greetingIn(result), GREETING_MS);
  overheard.stop();
  if (id === '') throw unable('crashed', `${name} answered ${method} without a session.`);
  const own: Own = note?.own ?? {
    model: settings.model?.current,
    effort: settings.effort?.current,
  };
  const isEmpty =
    method === 'session/new' ||
    (adapter?.loadsAnything === true && method === 'session/load' && overheard.textOf(id) === '');
  sessions.set(id, {
    cwd: params.cwd,
    settings,
    own,
    countedUsd: undefined,
    countedUsage: undefined,
    isEmpty,
  });
  return id;
}

/** With an agent that is too old, an adapter may never answer. A repeated request would not help. */
function versionHint({ starts: { program, oldest, remedy } }: Adapter): string {
  return `Check "${program} --version": the oldest version that works is ${oldest}. ${remedy}`;
}

const ADAPTER_MS = 60_000;

/** A greeting that comes later would be taken for a part of the answer. */
const GREETING_MS = 10_000;

/** Names of a state apply to its turn. The next turn without a name has the session's own one again. */
async function adjust(
  options: AcpOptions,
  process: AgentProcess,
  id: string,
  open: OpenSession,
  step: AcpStep,
): Promise<void> {
  const wanted: readonly Wanted[] = [
    { key: 'mode', value: modeFor(options, step), isNamed: !mayEdit(step) },
    { key: 'model', value: step.model ?? open.own.model, isNamed: step.model !== undefined },
    { key: 'effort', value: step.effort ?? open.own.effort, isNamed: step.effort !== undefined },
  ];
  for (const { key, value, isNamed } of wanted) {
    const setting = open.settings[key];
    if (value === undefined || setting?.current === value) continue;
    const found = setting && valueIn(setting, value);
    if (setting && found !== undefined) await set(options, process, id, open, key, setting, found);
    else if (isNamed && (setting || key !== 'mode'))
      throw unable(
        key === 'model' ? 'unknown-model' : 'refused',
        `${options.name} does not offer the ${key} "${value}".${offered(setting)}`,
      );
  }
}

interface Wanted {
  readonly key: 'mode' | 'model' | 'effort';
  readonly value: string | undefined;
  /** It must not be left out. */
  readonly isNamed: boolean;
}

async function set(
  { name }: AcpOptions,
  { abilities, connection }: AgentProcess,
  id: string,
  open: OpenSession,
  key: keyof SessionSettings,
  setting: Setting,
  value: string,
): Promise<void> {
  if (setting.current === value) return;
  const { method, params } = settingRequest(setting, id, value);
  try {
    const { id: _, ...changed } = readSession(await connection.request(method, params, ANSWER_MS));
    // Another model may have other efforts.
    open.settings = { ...open.settings, [key]: { ...setting, current: value }, ...changed };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new Unable(failureOf({ name, logins: abilities.logins }, error.error, Date.now()));
  }
}

/** An author may leave out the provider of a model. */
function valueIn({ values }: Setting, name: string): string | undefined {
  return (
    values.find((value) => value === name) ??
    values.find((value) => value.endsWith(`/${name}`)) ??
    values.find((value) => plainName(value) === name)
  );
}

function offered(setting: Setting | undefined): string {
  if (!setting || setting.values.length === 0) return '';
  const some = setting.values.slice(0, MOST_NAMES).join(', ').slice(0, 500);
  return ` It offers ${some}${setting.values.length > MOST_NAMES ? ', ...' : ''}.`;
}

const MOST_NAMES = 10;

/** The mode of the agent in which it asks for everything that the run does not allow. */
function modeFor({ permissions, hasSandbox }: AcpOptions, step: AcpStep): string | undefined {
  const modes = permissions?.modes ?? {};
  if (step.skipPermissions || (hasSandbox && step.rights)) return modes.skip;
  if (step.permissionMode === 'plan') return modes.plan;
  return mayEdit(step) ? modes.edits : modes.strict;
}

function unable(kind: FailureKind, message: string): Unable {
  return new Unable({ kind, message });
}
