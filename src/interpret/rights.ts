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
  // What the workflow needs is to be found out. What the user says still applies.
  if (learnRights) return [...given, { network: 'all' } as const].flatMap(level('user'));
  return [
    ...given.flatMap(level('user')),
    ...callers.map((one) => one.about.rights).flatMap(level('workflow')),
    ...[about.rights].flatMap(level('workflow')),
    ...[limitsOf(states.get(state)).rights].flatMap(level('state')),
  ];
}

export function combined(levels: readonly Level[]): StepRights | undefined {
  if (levels.length === 0) return undefined;
  const all = levels.map(({ rights }) => rights);
  const networks = all.flatMap(({ network }) => (network === undefined ? [] : [network]));
  return {
    write: all.flatMap(({ write }) => (write ? [write] : [])),
    hide: [...new Set(all.flatMap(({ hide }) => hide ?? []))],
    network: networks.length === 0 ? [] : networks.map(hostsOf).reduce(meetOf),
  };
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
