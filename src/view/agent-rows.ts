import { type Doing, isDoing } from '../model/now.ts';
import type { PlacedPiece, Row } from '../observe/block.ts';
import { widthOf } from '../observe/screen.ts';
import { cents, elapsed, waitsText } from '../observe/words.ts';
import { type AgentText, agentText, MARKS, stateText, whoText } from './agent-text.ts';
import { chosenAgents, type Listed, type Rest } from './chosen-agents.ts';
import { type Column, type Columns, columnsFor, GAP } from './columns.ts';
import { shortened } from './shortened.ts';
import type { View } from './view.ts';

export interface AgentFrame {
  readonly width: number;
  readonly now: number;
  readonly doing: ReadonlyMap<string, Doing>;
  /** The agent that the user has chosen. */
  readonly chosen?: string | undefined;
  /** The agent whose question is shown below. */
  readonly asking?: string | undefined;
  /** The process that worked on the run has ended without finishing it. */
  readonly isLost?: boolean | undefined;
}

export interface AgentRows {
  readonly rows: readonly Row[];
  /** All agents that can be chosen, in the order of their rows. */
  readonly order: readonly string[];
}

/** One row per agent, or per agent that needs attention and a summary of the others. */
export function agentRows(view: View, frame: AgentFrame, rows: number): AgentRows {
  if (rows < 1) return { rows: [], order: [] };
  const { width, now, chosen, isLost } = frame;
  // Agents that are over are in the lines above, until the user looks for one.
  const withEnded = chosen !== undefined || view.run.status.kind === 'ended' || !!isLost;
  const { all, shown, rest } = chosenAgents(view, { now, rows, chosen, withEnded, isLost });
  const order = all.map(({ id }) => id);
  const cells = shown.map((listed) => cellsOf(view, listed, frame));
  const columns = columnsFor(width, view.widest, cells);
  const agents = cells.map((cell) => ({ pieces: piecesOf(cell, columns) }));
  if (!rest) return { rows: agents, order };
  const text = `${shown.length > 0 ? 'and ' : ''}${rest.count} more: ${restText(rest)}`;
  const column = columns.who?.start ?? 0;
  const summary: PlacedPiece = { text: shortened(text, width - column), tone: 'faint', column };
  return { rows: [...agents, { pieces: [summary] }], order };
}

/** The row of one agent, for the head of its conversation. */
export function agentRow(view: View, frame: AgentFrame, id: string): Row {
  const { now, isLost } = frame;
  const listing = { now, rows: Number.POSITIVE_INFINITY, withEnded: true, isLost };
  const listed = chosenAgents(view, listing).all.find((one) => one.id === id);
  if (!listed) return { pieces: [{ text: shortened(id, frame.width), tone: 'strong' }] };
  const cell = cellsOf(view, listed, frame);
  const widest = { who: widthOf(cell.who), state: widthOf(cell.state) };
  return { pieces: piecesOf(cell, columnsFor(frame.width, widest, [cell])) };
}

function restText({ failed, working, ended, waits }: Rest): string {
  const count = (n: number, what: string) => (n > 0 ? [`${n} ${what}`] : []);
  return [
    ...count(failed, 'failed'),
    ...count(working, 'running'),
    ...(waits.length > 0 ? [waitsText(waits)] : []),
    ...count(ended, 'ended'),
  ].join(', ');
}

interface Cells {
  readonly who: string;
  readonly state: string;
  readonly doing: AgentText;
  readonly elapsed: string;
  readonly cost: string;
  readonly isChosen: boolean;
}

function cellsOf(view: View, listed: Listed, frame: AgentFrame): Cells {
  const { id, agent, kind } = listed;
  const { now, chosen, asking, isLost } = frame;
  const doing = frame.doing.get(id);
  const since = kind === 'ended' ? undefined : sinceOf(view, listed);
  const spent = kind !== 'ended' && isDoing(listed.agent, doing) ? (doing.spentUsd ?? 0) : 0;
  const costUsd = agent.costUsd + spent;
  return {
    who: whoText(id, agent),
    state: kind === 'ended' ? agent.state : stateText(listed.agent),
    doing: agentText(listed, { now, doing, isAskedBelow: id === asking, isLost }),
    elapsed: since === undefined ? '' : elapsed(now - since),
    cost: costUsd > 0 ? cents(costUsd, agent.isPriced || spent > 0) : '',
    isChosen: id === chosen,
  };
}

/** The journal has the time of some statuses, and of the others if the view has seen them begin. */
function sinceOf(view: View, { id, agent }: Exclude<Listed, { kind: 'ended' }>) {
  const { status } = agent;
  switch (status.kind) {
    case 'running':
      return status.requests[0]?.askedAt ?? status.startedAt;
    case 'asking':
      return status.askedAt;
    case 'joining':
      return status.since;
    default:
      return view.since.get(id);
  }
}

function piecesOf(cells: Cells, columns: Columns): readonly PlacedPiece[] {
  const { who, state, doing, elapsed, cost, isChosen } = cells;
  const left = (text: string, column: Column | undefined, tone: PlacedPiece['tone']) =>
    column && text !== ''
      ? [{ text: shortened(text, column.cells), tone, column: column.start }]
      : [];
  const right = (text: string, column: Column | undefined) =>
    column && text !== ''
      ? [{ text, tone: 'faint' as const, column: column.start + column.cells - text.length }]
      : [];
  const mark = MARKS[doing.mark];
  return [
    ...(isChosen ? left('❯', columns.chosen, 'accent') : []),
    ...left(mark.text, columns.mark, mark.tone),
    ...left(who, columns.who, isChosen ? 'accent' : 'faint'),
    ...left(state, columns.state, 'faint'),
    ...left(
      doing.text,
      columns.doing && { ...columns.doing, cells: roomFor(cells, columns) },
      doing.tone,
    ),
    ...right(cost, columns.cost),
    ...right(elapsed, columns.elapsed),
  ];
}

/** A text may use the columns after it that are empty in this row. */
function roomFor({ elapsed, cost }: Cells, { doing, ...after }: Columns): number {
  if (!doing) return 0;
  const last = after.elapsed ?? after.cost ?? doing;
  const next = (cost !== '' && after.cost) || (elapsed !== '' && after.elapsed);
  return (next ? next.start - GAP : last.start + last.cells) - doing.start;
}
