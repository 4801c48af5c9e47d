/**
 * Keeps a run's history for whoever wants to know exactly what was said. It never makes a run fail:
 * after the first trouble it says so once and stays silent.
 */
import { appendFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPartSync, readRegularFileSync } from '../files/regular-file.ts';
import type { RunEvent, SessionUse } from '../model/event.ts';
import type { Agent, Run } from '../model/run.ts';
import { visibleJson } from '../model/visible.ts';
import type { Observer } from '../ports.ts';
import { ownLine } from './screen.ts';

export interface DebugOptions {
  readonly folder: string;
  readonly report: (problem: string) => void;
  /** What the step left: the agent's raw messages, or a script's output. */
  readonly stepFolder: (agent: string, step: number) => string;
}

export function debugFolderObserver({ folder, report, stepFolder }: DebugOptions): Observer {
  let broken = false;
  const states = new Map<string, string>();
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
      if (event.type === 'step-started') states.set(event.agent, event.state);
      const note = noteOf(event, before, states);
      if (note) {
        steps.set(note.agent, note);
        attempt(() => keepStep(folder, note, stepFolder(note.agent, note.step)));
        return;
      }
      const entry = logEntry(event, before, after, steps);
      if (entry === undefined) return;
      attempt(() => appendFileSync(join(folder, 'transitions.log'), entry, { mode: 0o600 }));
      if (tellsStep(event)) steps.delete(event.agent);
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
  readonly at: number;
  readonly costUsd: number;
  /** Of a turn; scripts have none. */
  readonly session: SessionUse | undefined;
}

/** What a step's end leaves to be told with the transition that it led to. */
function noteOf(
  event: RunEvent,
  before: Run | undefined,
  states: ReadonlyMap<string, string>,
): StepNote | undefined {
  const isStepOver =
    event.type === 'step-ended' ||
    event.type === 'step-failed' ||
    event.type === 'step-interrupted';
  const agent = isStepOver ? before?.agents.get(event.agent) : undefined;
  if (!isStepOver || agent?.status.kind !== 'running') return undefined;
  const { step, at, costUsd } = event;
  // A judge is another state than the one that the agent is in.
  const state = states.get(agent.id) ?? agent.state;
  return { agent: agent.id, state, step, at, costUsd, session: agent.status.session };
}

/** An override is followed by the transition that was taken instead: the step is told there. */
function tellsStep(event: RunEvent): event is Extract<RunEvent, { agent: string }> {
  return 'agent' in event && event.type !== 'transition-overridden';
}

/** A list of JSON values: which step it was, what the agent or script said, what it cost. */
function keepStep(folder: string, note: StepNote, stepFolder: string): void {
  const state = note.state.replace(/\.[^.]+$/, '');
  const name = `${note.agent}_${state}_${String(note.step).padStart(3, '0')}.json`;
  const kept = [
    {
      type: 'step',
      agent_id: note.agent,
      current_state: note.state,
      step_number: note.step,
      timestamp: new Date(note.at).toISOString(),
    },
    ...(note.session ? rawMessages(stepFolder) : scriptOutput(stepFolder)),
    { type: 'cost', cost_usd: note.costUsd },
  ];
  writeFileSync(join(folder, name), `${visibleJson(kept, 2)}\n`, { mode: 0o600 });
}

/** More is not copied, only named. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * An executor of prompts names in `raw.json` the file and the part of it that holds the agent's own
 * messages, one JSON value a line.
 */
function rawMessages(stepFolder: string): readonly unknown[] {
  const raw = readIfThere(join(stepFolder, 'raw.json'));
  if (raw === undefined) return [];
  const { file, from, to } = JSON.parse(raw);
  if (to - from > MOST_BYTES) return [{ type: 'too-large', file, from, to }];
  const text = readPartSync(file, from, to - from).toString('utf8');
  return text.split('\n').flatMap(messageIn);
}

/** Noise between the messages is left out. */
function messageIn(line: string): readonly unknown[] {
  if (!line.startsWith('{')) return [];
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

function scriptOutput(stepFolder: string): readonly unknown[] {
  const file = join(stepFolder, 'stdout');
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return [];
  if (size > MOST_BYTES) return [{ type: 'too-large', file }];
  const text = readRegularFileSync(file, MOST_BYTES).toString('utf8');
  return [{ type: 'content', text }];
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
  steps: ReadonlyMap<string, StepNote>,
): string | undefined {
  const line = transitionLine(event, before, after);
  if (!line) return undefined;
  const agent = 'agent' in event ? before?.agents.get(event.agent) : undefined;
  const stack = ('agent' in event ? after.agents.get(event.agent) : undefined)?.stack ?? [];
  const step = tellsStep(event) ? steps.get(event.agent) : undefined;
  const details = [
    ...sessionOf(agent, step),
    ...(stack.length > 0 ? [`stack_depth: ${stack.length}`] : []),
    ...(step?.session ? [`cost: ${money(step.costUsd)}`] : []),
    `total_cost: ${money(after.totalCostUsd)}`,
    ...(event.type === 'agent-ended' ? [`result: ${JSON.stringify(event.result)}`] : []),
    ...failureOf(event, after),
  ];
  const lines = [`${localStamp(new Date(event.at))} ${line}`, ...details.map((d) => `  ${d}`), ''];
  return lines.map((text) => ownLine(text, { color: false })).join('');
}

/** The session of the turn that led to the transition; a script leaves the agent's as it is. */
function sessionOf(agent: Agent | undefined, step: StepNote | undefined): readonly string[] {
  if (step?.session) return [`session_id: ${step.session.id}${HOW_USED[step.session.use]}`];
  return agent?.session.kind === 'open' ? [`session_id: ${agent.session.id}`] : [];
}

const HOW_USED = { fresh: '', continue: ' (resumed)', branch: ' (branched)' } as const;

function failureOf(event: RunEvent, after: Run): readonly string[] {
  if (event.type === 'agent-failed') return [`failure: ${event.failure.message}`];
  if (event.type !== 'agent-waits') return [];
  const status = after.agents.get(event.agent)?.status;
  return status?.kind === 'waiting' ? [`failure: ${status.failure.message}`] : [];
}

/** In cents where that is exact; a small cost is not shown as none. */
function money(amount: number): string {
  return `$${amount.toFixed(6).replace(/0{1,4}$/, '')}`;
}

function transitionLine(event: RunEvent, before: Run | undefined, after: Run): string | undefined {
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
    case 'question-timed-out':
      return `${who} -> ${after.agents.get(event.agent)?.state ?? ''} (no answer in time)`;
    case 'agent-reminded':
      return `${who} -> ${from} (reminder ${event.number})`;
    case 'agent-waits':
      return `${who} -> ${from} (again)`;
    case 'judge-called':
      return `${who}: evaluator ${event.evaluator + 1} is asked`;
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
