import type { Doing } from '../model/now.ts';
import type { Agent, Run } from '../model/run.ts';
import { waitOf } from '../model/wait.ts';
import type { PlacedPiece, Row } from '../observe/block.ts';
import { elapsed, usd, WAIT_REASONS } from '../observe/words.ts';
import { agentText, whoText } from './agent-text.ts';
import { chosenAgents, type Kind } from './chosen-agents.ts';
import { type Column, type Columns, columnsFor, GAP } from './columns.ts';
import { shortened } from './shortened.ts';
import type { View } from './view.ts';

export interface AgentFrame {
  readonly width: number;
  readonly now: number;
  readonly doing: ReadonlyMap<string, Doing>;
}

/** One row per agent, or per agent that needs attention and a summary of the others. */
export function agentRows(view: View, frame: AgentFrame, rows: number): readonly Row[] {
  if (rows < 1) return [];
  const { shown, rest } = chosenAgents(view, rows, frame.now);
  const cells = shown.map((agent) => cellsOf(view.run, agent, frame));
  const columns = columnsFor(frame.width, view.widest, cells);
  const agents = cells.map((cell) => ({ pieces: piecesOf(cell, columns) }));
  if (rest.length === 0) return agents;
  const total = rest.reduce((sum, [, count]) => sum + count, 0);
  const kinds = rest.map(([kind, count]) => `${count} ${restText(kind)}`).join(', ');
  const text = shortened(`${shown.length > 0 ? 'and ' : ''}${total} more: ${kinds}`, frame.width);
  return [...agents, { pieces: [{ text, tone: 'faint' }] }];
}

const restText = (kind: Kind) =>
  kind === 'failed' ? 'failed' : kind === 'working' ? 'running' : `waiting ${WAIT_REASONS[kind]}`;

interface Cells {
  readonly who: string;
  readonly state: string;
  readonly doing: Pick<ReturnType<typeof agentText>, 'text' | 'tone'>;
  readonly elapsed: string;
  readonly cost: string;
}

function cellsOf(run: Run, agent: Agent, { now, doing }: AgentFrame): Cells {
  const wait = waitOf(run, agent, now);
  const { since, ...text } = agentText(agent, doing.get(agent.id), { now, wait });
  return {
    who: whoText(agent),
    state: agent.state,
    doing: text,
    elapsed: since === undefined ? '' : elapsed(now - since),
    cost: agent.costUsd > 0 ? usd(agent.costUsd, agent.isPriced) : '',
  };
}

function piecesOf(cells: Cells, columns: Columns): readonly PlacedPiece[] {
  const { who, state, doing, elapsed, cost } = cells;
  const left = (text: string, column: Column | undefined, tone: PlacedPiece['tone'] = 'plain') =>
    column && text !== ''
      ? [{ text: shortened(text, column.cells), tone, column: column.start }]
      : [];
  const right = (text: string, column: Column | undefined) =>
    column && text !== ''
      ? [{ text, tone: 'faint' as const, column: column.start + column.cells - text.length }]
      : [];
  return [
    ...left(who, columns.who, 'faint'),
    ...left(state, columns.state, 'faint'),
    ...left(
      doing.text,
      columns.doing && { ...columns.doing, cells: roomFor(cells, columns) },
      doing.tone,
    ),
    ...right(elapsed, columns.elapsed),
    ...right(cost, columns.cost),
  ];
}

/** A text may use the columns after it that are empty in this row. */
function roomFor({ elapsed, cost }: Cells, { doing, ...after }: Columns): number {
  if (!doing) return 0;
  const last = after.cost ?? after.elapsed ?? doing;
  const next = elapsed !== '' ? after.elapsed : cost !== '' ? after.cost : undefined;
  return (next ? next.start - GAP : last.start + last.cells) - doing.start;
}
