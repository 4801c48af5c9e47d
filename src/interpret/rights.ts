/** Combines the rights of all levels. A level can only narrow those above it. */
import type { Settings } from '../model/event.ts';
import type { Network, Rights, StepRights } from '../model/rights.ts';
import type { StateName } from '../model/state-name.ts';
import type { Workflow } from '../model/workflow.ts';
import { limitsOf } from '../parse/limits.ts';
import { type Host, readHost } from '../parse/rights.ts';

/** The rights of a step; undefined if no level says anything, so that it is not confined. */
export function rightsOf(
  { rights: given = [] }: Pick<Settings, 'rights'>,
  { about, states }: Pick<Workflow, 'about' | 'states'>,
  state: StateName,
): StepRights | undefined {
  if (given === 'off') return undefined;
  const levels = [...given, about.rights, limitsOf(states.get(state)).rights];
  return combined(levels.flatMap((level) => level ?? []));
}

/** Widest first. */
export function combined(levels: readonly Rights[]): StepRights | undefined {
  if (levels.length === 0) return undefined;
  const networks = levels.flatMap(({ network }) => (network === undefined ? [] : [network]));
  return {
    write: levels.flatMap(({ write }) => (write ? [write] : [])),
    hide: [...new Set(levels.flatMap(({ hide }) => hide ?? []))],
    network: networks.length === 0 ? [] : networks.map(hostsOf).reduce(meetOf),
  };
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

function covers(wide: Host, narrow: Host): boolean {
  if (wide.name === narrow.name) return true;
  return wide.name.startsWith('*.') && narrow.name.endsWith(wide.name.slice(1));
}
