/** Combines the rights of all levels. A level can only narrow those above it. */
import type { Settings } from '../model/event.ts';
import type { Network, Refusal, Rights, StepRights } from '../model/rights.ts';
import type { Agent, Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Workflow } from '../model/workflow.ts';
import { limitsOf } from '../parse/limits.ts';
import { covers, isHostIn, readHost } from '../parse/rights.ts';
import type { Workflows } from './follow.ts';

/** Rights, and who gave them. */
export interface Level {
  readonly of: 'user' | 'workflow' | 'state';
  readonly rights: Rights;
  /** It belongs to a workflow that called this one, and so gives no secrets. */
  readonly isCaller?: boolean;
}

type Given = Pick<Settings, 'rights' | 'learnRights'>;

/** The rights of a step; undefined if no level says anything, so that it is not confined. */
export function rightsOf(
  settings: Given,
  workflow: Pick<Workflow, 'about' | 'states'>,
  state: StateName,
  callers: readonly Pick<Workflow, 'about'>[] = [],
): StepRights | undefined {
  return learning(settings, combined(levelsIn(settings, workflow, state, callers)));
}

/** The same for the running step of an agent. */
export function rightsAt(
  workflows: Workflows,
  run: Pick<Run, 'settings' | 'workflow'>,
  agent: Pick<Agent, 'workflow' | 'stack'>,
  state: StateName,
): StepRights | undefined {
  return learning(run.settings, combined(levelsOf(workflows, run, agent, state)));
}

const learning = ({ learnRights }: Given, rights: StepRights | undefined) =>
  rights && learnRights ? { ...rights, learns: true as const } : rights;

/**
 * The levels for a state of an agent, widest first. An agent that calls another workflow must not get
 * more than the workflow in which it is, so those of the callers and of the run's own workflow apply too.
 */
export function levelsOf(
  workflows: Workflows,
  run: Pick<Run, 'settings' | 'workflow'>,
  agent: Pick<Agent, 'workflow' | 'stack'>,
  state: StateName,
): readonly Level[] {
  const workflow = workflows(agent.workflow);
  if (!workflow) return [];
  const refs = new Set([run.workflow, ...agent.stack.map((frame) => frame.workflow)]);
  refs.delete(agent.workflow);
  const callers = [...refs].flatMap((ref) => workflows(ref) ?? []);
  return levelsIn(run.settings, workflow, state, callers);
}

function levelsIn(
  { rights: given = [], learnRights }: Given,
  { about, states }: Pick<Workflow, 'about' | 'states'>,
  state: StateName,
  callers: readonly Pick<Workflow, 'about'>[],
): readonly Level[] {
  if (given === 'off') return [];
  const level = (of: Level['of']) => (rights: Rights | undefined) => (rights ? { of, rights } : []);
  const levels: readonly Level[] = [
    ...given.flatMap(level('user')),
    ...callers
      .map((one) => one.about.rights)
      .flatMap(level('workflow'))
      .map((one) => ({ ...one, isCaller: true })),
    ...[about.rights].flatMap(level('workflow')),
    ...[limitsOf(states.get(state)).rights].flatMap(level('state')),
  ];
  if (!learnRights) return levels;
  // What the workflow needs is to be found out. What the user says still applies.
  const ofUser = [...given, { network: 'all' } as const].flatMap(level('user'));
  const secrets = secretsIn(levels);
  return [
    ...ofUser,
    ...(secrets.length > 0 ? [{ of: 'state', rights: { secrets } } as const] : []),
  ];
}

export function combined(levels: readonly Level[]): StepRights | undefined {
  if (levels.length === 0) return undefined;
  const all = levels.map(({ rights }) => rights);
  const secrets = secretsIn(levels);
  const networks = all.flatMap(({ network }) => (network === undefined ? [] : [network]));
  return {
    write: all.flatMap(({ write }) => (write ? [write] : [])),
    hide: [...new Set(all.flatMap(({ hide }) => hide ?? []))],
    network: networks.length === 0 ? [] : networks.map(hostsOf).reduce(meetOf),
    ...(secrets.length > 0 && { secrets }),
  };
}

/**
 * The state or its workflow has to name a secret. The user and calling workflows can only take it away, so that
 * no state gets a secret of which its author knows nothing.
 */
function secretsIn(levels: readonly Level[]): readonly string[] {
  const naming = levels.filter(({ rights }) => rights.secrets !== undefined);
  const own = naming.filter(({ of, isCaller }) => of !== 'user' && !isCaller);
  const named = new Set(own.flatMap(({ rights }) => rights.secrets ?? []));
  return [...named].filter((name) =>
    naming.every(({ rights }) => rights.secrets?.includes(name) ?? true),
  );
}

/** The secrets that states name, whatever other levels say: no other state may have them as variables. */
export function namedSecrets({
  about,
  states,
}: Pick<Workflow, 'about' | 'states'>): readonly string[] {
  const all = [about.rights, ...[...states.values()].map((state) => limitsOf(state).rights)];
  return [...new Set(all.flatMap((rights) => rights?.secrets ?? []))];
}

/** Whose rights would have to allow what was refused. Empty if no rights can, or if it is not known. */
export function refusedBy(
  levels: readonly Level[],
  { right, what }: Refusal,
  cwd: string,
): readonly Level['of'][] {
  const isSaid = levels.filter(({ rights }) => rights[right] !== undefined);
  // By default, there is no network, and only the directory of the agent may be changed.
  const said: readonly Level[] =
    isSaid.length > 0 ? isSaid : [{ of: 'state', rights: { write: ['.'], network: 'none' } }];
  const refusing = said.filter(({ rights }) => !isAllowed(rights, right, what, cwd));
  return [...new Set(refusing.map(({ of }) => of))];
}

/** For the agent, which cannot know why its commands failed. */
export function refusalLines(refused: readonly Refusal[]): readonly string[] {
  const facts = refused.slice(0, MOST_REFUSALS).map(({ right, what }) => {
    const text = JSON.stringify(what.slice(0, LONGEST_REFUSAL)).slice(1, -1);
    return `- ${DEEDS[right]} ${text} is not allowed in this state.`;
  });
  return facts.length === 0 ? [] : ['', 'Work without what the sandbox refused:', '', ...facts];
}

const MOST_REFUSALS = 10;
const LONGEST_REFUSAL = 200;

const DEEDS = { write: 'Writing to', hide: 'Reading', network: 'Network to' } as const;

function isAllowed(rights: Rights, right: Refusal['right'], what: string, cwd: string): boolean {
  switch (right) {
    case 'network':
      return isReached(hostsOf(rights.network ?? 'none'), what);
    case 'write':
      return (rights.write ?? []).some((path) => isAt(absolute(path, cwd), absolute(what, cwd)));
    case 'hide':
      return !(rights.hide ?? []).some((path) => isAt(absolute(path, cwd), absolute(what, cwd)));
    default:
      return unreachable(right);
  }
}

const isReached = (hosts: Hosts, host: string) => hosts === 'all' || isHostIn(hosts, host);

const isAt = (folder: string, path: string) =>
  folder === '/' || path === folder || path.startsWith(`${folder}/`);

/** As the author wrote it: links are not resolved, and neither is the home folder. */
function absolute(path: string, cwd: string): string {
  const whole = path.startsWith('/') || path.startsWith('~') ? path : `${cwd}/${path}`;
  const parts: string[] = [];
  for (const part of whole.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return whole.startsWith('~') ? parts.join('/') : `/${parts.join('/')}`;
}

type Hosts = StepRights['network'];

const hostsOf = (network: Network): Hosts => (network === 'none' ? [] : network);

function meetOf(wide: Hosts, narrow: Hosts): Hosts {
  if (wide === 'all') return narrow;
  if (narrow === 'all') return wide;
  const both = wide.flatMap((one) => narrow.flatMap((other) => meetOfHosts(one, other) ?? []));
  return [...new Set(both)];
}

function meetOfHosts(one: string, other: string): string | undefined {
  const [a, b] = [readHost(one), readHost(other)];
  if (!a || !b || (a.port !== undefined && b.port !== undefined && a.port !== b.port))
    return undefined;
  const name = covers(a, b) ? b.name : covers(b, a) ? a.name : undefined;
  const port = a.port ?? b.port;
  return name === undefined || port === undefined ? name : `${name}:${port}`;
}
