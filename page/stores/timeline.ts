/** Which part of a timeline is visible, and in which order its agents are. */
import type { AgentShape, TimelineShape, WholeRun } from '../../src/look/run-shape.ts';
import type { Axis } from '../../src/timeline/axis.ts';
import { visible } from '../lib/words.ts';
import { rankOf, shortName } from './agents.ts';

/** The visible part, from 0 to 1. */
export interface Zoom {
  readonly from: number;
  readonly to: number;
}

export const WHOLE: Zoom = { from: 0, to: 1 };

/** The place at `at` stays where it is. */
export function zoomedBy({ from, to }: Zoom, factor: number, at = 0.5): Zoom {
  const length = Math.max(SHORTEST, (to - from) / factor);
  if (length >= 1) return WHOLE;
  return startingAt(from + (to - from - length) * at, length);
}

const SHORTEST = 1 / 2_000;

/** By a part of what is visible. */
export const movedBy = ({ from, to }: Zoom, part: number): Zoom =>
  startingAt(from + part * (to - from), to - from);

/** 0 is the beginning, 1 the end. */
export const movedTo = ({ from, to }: Zoom, part: number): Zoom =>
  startingAt(part * (1 - (to - from)), to - from);

function startingAt(wanted: number, length: number): Zoom {
  const from = Math.max(0, Math.min(1 - length, wanted));
  return { from, to: from + length };
}

export function zoomedAxis(axis: Axis, { from, to }: Zoom): Axis {
  if (from === 0 && to === 1) return axis;
  return {
    ...axis,
    place: (time) => (axis.place(time) - from) / (to - from),
    timeAt: (place) => axis.timeAt(from + place * (to - from)),
  };
}

export const ORDERS = [
  ['creation', 'In order of creation'],
  ['failed', 'Failed first'],
  ['state', 'By state'],
] as const;

export type Order = (typeof ORDERS)[number][0];

export const orderNamed = (text: string): Order =>
  ORDERS.find(([one]) => one === text)?.[0] ?? 'creation';

type Row = TimelineShape['rows'][number] & { readonly label: string };

export function orderedRows(
  { agents, timeline }: Pick<WholeRun, 'agents' | 'timeline'>,
  order: Order,
): readonly Row[] {
  const known = new Map(agents.map((agent) => [agent.id, agent]));
  const rows = timeline.rows.map((row) => ({
    ...row,
    label: labelOf(known.get(row.agent), row.agent, order),
  }));
  const of = ({ agent }: Row) => known.get(agent);
  switch (order) {
    case 'creation':
      return rows;
    case 'failed':
      return rows.toSorted((a, b) => rank(of(a)) - rank(of(b)));
    case 'state':
      return rows.toSorted((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  }
}

const rank = (agent: AgentShape | undefined) => (agent ? rankOf(agent.status) : Number.MAX_VALUE);

/** The name, and what tells it from its siblings. By state, the state comes first. */
function labelOf(agent: AgentShape | undefined, id: string, order: Order): string {
  if (!agent) return visible(id);
  if (order === 'state') return `${visible(agent.state)} · ${shortName(agent)}`;
  const has = Object.keys(agent.variables).length > 0;
  return has ? `${shortName(agent)} · ${visible(id)}` : visible(id);
}
