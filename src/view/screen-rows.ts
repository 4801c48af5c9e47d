import { waitsForPerson } from '../model/tally.ts';
import type { Row } from '../observe/block.ts';
import { type AgentFrame, type AgentRows, agentRows } from './agent-rows.ts';
import { footer, type Hint } from './footer.ts';
import { type Panel, panelRows } from './panels.ts';
import { questionRows, type Typing } from './question-rows.ts';
import type { View } from './view.ts';

export interface Frame extends Omit<AgentFrame, 'asking'> {
  /** The number of rows of the screen. */
  readonly height: number;
  readonly typing?: Typing | undefined;
  readonly panel?: Panel | undefined;
  readonly isWatched?: boolean;
  readonly hint?: Hint;
}

/**
 * The rows of the view: agents, the run, and the question that the user answers. No row is wider than
 * the screen, and lines of the report stay visible above the rows.
 */
export function screenRows(view: View, frame: Frame): AgentRows {
  const { height, now, typing, panel, doing, hint = NO_HINT, isWatched = false, isLost } = frame;
  // Some terminals wrap a row that fills the last column.
  const width = Math.max(1, frame.width - 1);
  const isAsked = typing !== undefined && !panel;
  const most = isAsked ? mostWithQuestion(height) : mostRows(height);
  const open = typing ? openWith(view, typing) : 0;
  const below = [
    ...footer(view.run, { width, now, doing, isLost, hint: typing || panel ? NO_HINT : hint }),
    ...(panel ? panelRows(panel, view.run, { width, isWatched }) : []),
    ...(isAsked ? questionRows(typing, { width, rows: questionRoom(height), now, open }) : []),
  ];
  const asking = typing?.asked.agent;
  const between = most >= ROOMY ? SEPARATOR : [];
  const taken = below.length + SEPARATOR.length + between.length;
  const room = Math.min(most - taken, Math.max(mostRows(height) - taken, LEAST_AGENTS));
  const { rows, order } = agentRows(view, { ...frame, width, asking }, room);
  const agents = rows.length > 0 ? [...SEPARATOR, ...rows, ...between] : [];
  return { rows: [...agents, ...below].slice(-most), order };
}

/** The number of agents that wait for the user. The agent that asks may have several requests. */
function openWith({ run }: View, { asked }: Typing): number {
  const status = run.agents.get(asked.agent)?.status;
  const own = status?.kind === 'running' ? status.requests.length : 1;
  return waitsForPerson(run.tally) + Math.max(0, own - 1);
}

/** The rows of a question. It is more important than the agents, of which a few stay visible. */
export function questionRoom(height: number): number {
  const half = Math.floor(mostRows(height) / 2);
  return Math.max(4, half, mostWithQuestion(height) - BESIDE_QUESTION);
}

/** One that needs attention, another one, and a summary. */
const LEAST_AGENTS = 3;

/** Two rows of the footer, and two separators. */
const BESIDE_QUESTION = LEAST_AGENTS + 4;

/** A screen with fewer rows needs all of them. */
const ROOMY = 12;

const NO_HINT: Hint = { text: '', isNeeded: false };

const SEPARATOR: readonly Row[] = [{ pieces: [] }];

/** While the user answers, a sixth of the screen is enough for lines of the report. */
function mostWithQuestion(height: number): number {
  return Math.max(mostRows(height), height - Math.max(3, Math.floor(height / 6)));
}

/** A third of the screen is for lines of the report. */
function mostRows(height: number): number {
  return Math.max(1, Math.min(height - 1, height - Math.floor(height / 3)));
}
