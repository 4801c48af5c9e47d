/**
 * Keeps a run's history for whoever wants to know exactly what was said. It never makes a run fail:
 * after the first trouble it says so once and stays silent.
 */
import { appendFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPartSync, readRegularFileSync } from '../files/regular-file.ts';
import type { RunEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import type { Observer } from '../ports.ts';

export interface DebugOptions {
  readonly folder: string;
  readonly report: (problem: string) => void;
  /** What the step left: the agent's raw messages, or a script's output. */
  readonly stepFolder: (agent: string, step: number) => string;
}

export function debugFolderObserver({ folder, report, stepFolder }: DebugOptions): Observer {
  let broken = false;
  const steps = new Map<string, StepNote>();
  const attempt = (write: () => void) => {
    if (broken) return;
    try {
      write();
    } catch (error) {
      broken = true;
      const why = error instanceof Error ? error.message : String(error);
      report(`The debug folder cannot be written, and is left alone from here on: ${why}`);
    }
  };
  attempt(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  return {
    event(event, before, after) {
      const isStepOver =
        event.type === 'step-ended' ||
        event.type === 'step-failed' ||
        event.type === 'step-interrupted';
      if (isStepOver) {
        const note = noteOf(event, before);
        if (!note) return;
        steps.set(event.agent, note);
        attempt(() => keepStep(folder, note, stepFolder(event.agent, event.step)));
        return;
      }
      const entry = logEntry(
        event,
        before,
        after,
        'agent' in event ? steps.get(event.agent) : undefined,
      );
      if (entry)
        attempt(() => appendFileSync(join(folder, 'transitions.log'), entry, { mode: 0o600 }));
    },
    live: () => {},
  };
}

/** `{run}_{YYYYMMDD_HHMMSS}` */
export function debugFolderName(run: string, at: Date): string {
  const stamp = localStamp(at).replace(/[-:]/g, '').replace(' ', '_');
  return `${run}_${stamp}`;
}

interface StepNote {
  readonly agent: string;
  readonly state: string;
  readonly step: number;
  readonly costUsd: number;
  readonly isTurn: boolean;
  readonly how: string;
}

type StepOver = Extract<RunEvent, { type: 'step-ended' | 'step-failed' | 'step-interrupted' }>;

function noteOf(event: StepOver, before: Run | undefined): StepNote | undefined {
  const agent = before?.agents.get(event.agent);
  if (agent?.status.kind !== 'running') return undefined;
  const { session } = agent.status;
  return {
    agent: agent.id,
    state: agent.state,
    step: event.step,
    costUsd: event.costUsd,
    isTurn: session !== undefined,
    how:
      session?.use === 'continue' ? ' (resumed)' : session?.use === 'branch' ? ' (branched)' : '',
  };
}

/** What the agent or script said, as a list of JSON values: `{agent}_{STATE}_{NNN}.json`. */
function keepStep(folder: string, note: StepNote, stepFolder: string): void {
  const state = note.state.replace(/\.[^.]+$/, '');
  const name = `${note.agent}_${state}_${String(note.step).padStart(3, '0')}.json`;
  const said = note.isTurn ? rawMessages(stepFolder) : scriptOutput(stepFolder);
  const cost = JSON.stringify({ type: 'cost', cost_usd: note.costUsd });
  writeFileSync(join(folder, name), `[\n${[...said, cost].join(',\n')}\n]\n`, { mode: 0o600 });
}

/** More is not copied, only named. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * An executor of prompts names in `raw.json` the file and the part of it that holds the agent's own
 * messages, one JSON value a line.
 */
function rawMessages(stepFolder: string): readonly string[] {
  const raw = readIfThere(join(stepFolder, 'raw.json'));
  if (raw === undefined) return [];
  const { file, from, to } = JSON.parse(raw);
  if (to - from > MOST_BYTES) return [JSON.stringify({ type: 'too-large', file, from, to })];
  const text = readPartSync(file, from, to - from).toString('utf8');
  return text.split('\n').filter((line) => line.startsWith('{') && isJson(line));
}

function scriptOutput(stepFolder: string): readonly string[] {
  const file = join(stepFolder, 'stdout');
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return [];
  if (size > MOST_BYTES) return [JSON.stringify({ type: 'too-large', file })];
  return [
    JSON.stringify({
      type: 'content',
      text: readRegularFileSync(file, MOST_BYTES).toString('utf8'),
    }),
  ];
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readRegularFileSync(file, MOST_BYTES).toString('utf8');
  } catch {
    return undefined;
  }
}

function logEntry(
  event: RunEvent,
  before: Run | undefined,
  after: Run,
  step: StepNote | undefined,
): string | undefined {
  const line = transitionLine(event, before);
  if (!line) return undefined;
  const agent =
    'agent' in event
      ? (after.agents.get(event.agent) ?? before?.agents.get(event.agent))
      : undefined;
  const session = agent?.session.kind === 'open' ? agent.session.id : undefined;
  const details = [
    ...(session ? [`session_id: ${session}${step?.how ?? ''}`] : []),
    ...(agent && agent.stack.length > 0 ? [`stack_depth: ${agent.stack.length}`] : []),
    ...(step?.isTurn ? [`cost: $${step.costUsd.toFixed(2)}`] : []),
    `total_cost: $${after.totalCostUsd.toFixed(2)}`,
    ...(event.type === 'agent-ended' ? [`result: ${JSON.stringify(event.result)}`] : []),
    ...(event.type === 'agent-failed' ? [`failure: ${event.failure.message}`] : []),
  ];
  return `${localStamp(new Date(event.at))} ${line}\n${details.map((d) => `  ${d}\n`).join('')}\n`;
}

function transitionLine(event: RunEvent, before: Run | undefined): string | undefined {
  if (!('agent' in event)) {
    return event.type === 'stop-requested' ? `[run] stop (${event.why}, ${event.how})` : undefined;
  }
  const from = before?.agents.get(event.agent)?.state;
  const who = `[${event.agent}] ${from ?? ''}`;
  switch (event.type) {
    case 'agent-moved':
      return `${who} -> ${event.state} (${event.tag})`;
    case 'agent-forked':
      return `[${event.parent}] forks ${event.agent} -> ${event.state} (fork)`;
    case 'agent-ended':
      return `${who} -> (result, terminated)`;
    case 'agent-failed':
      return `${who} -> (failed)`;
    case 'agent-asked':
      return `${who} -> ${event.next} (ask)`;
    case 'agent-reminded':
      return `${who} -> ${from} (reminder ${event.number})`;
    case 'transition-overridden':
      return `${who}: evaluator ${event.by} overrides ${event.written.map((t) => t.name).join(', ')} with ${event.taken.name}`;
    default:
      return undefined;
  }
}

function localStamp(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${date.toTimeString().slice(0, 8)}`;
}
