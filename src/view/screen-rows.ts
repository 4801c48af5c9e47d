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
  const most = mostRows(height);
  const open = typing ? openWith(view, typing) : 0;
  const below = [
    ...footer(view.run, { width, now, doing, isLost, hint: typing || panel ? NO_HINT : hint }),
    ...(panel ? panelRows(panel, view.run, { width, isWatched }) : []),
    ...(typing && !panel
      ? questionRows(typing, { width, rows: questionRoom(height), now, open })
      : []),
  ];
  const asking = typing?.asked.agent;
  const between = most >= ROOMY ? SEPARATOR : [];
  const room = most - below.length - SEPARATOR.length - between.length;
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

export function questionRoom(height: number): number {
  return Math.max(4, Math.floor(mostRows(height) / 2));
}

/** A screen with fewer rows needs all of them. */
const ROOMY = 12;

const NO_HINT: Hint = { text: '', isNeeded: false };

const SEPARATOR: readonly Row[] = [{ pieces: [] }];

/** A third of the screen is for lines of the report. */
function mostRows(height: number): number {
  return Math.max(1, Math.min(height - 1, height - Math.floor(height / 3)));
}
