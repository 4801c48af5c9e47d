/**
 * INV-25: An observer never makes a run fail.
 *
 * Keeps the answers of agents and the transitions of a run for debugging. After its first error it
 * reports the error once and writes nothing more.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEvent, SessionUse } from '../model/event.ts';
import { ignore, isStepEnd } from '../model/event-kinds.ts';
import type { Agent, Run } from '../model/run.ts';
import { visibleJson } from '../model/visible.ts';
import type { Observer } from '../ports.ts';
import { BoundedLog, NewestFiles } from './bounded-files.ts';
import { ownLine } from './screen.ts';

export interface DebugOptions {
  readonly folder: string;
  readonly report: (problem: string) => void;
  /**
   * The output of a step: the raw messages of the agent, or the output of a script, as JSON values.
   */
  readonly outputOf: (agent: string, step: number, kind: 'prompt' | 'script') => readonly unknown[];
}

/** A loop may run for months. */
const BOUNDS = { files: 1000, bytes: 256 * 1024 * 1024, logBytes: 10 * 1024 * 1024 };

export function debugFolderObserver(
  { folder, report, outputOf }: DebugOptions,
  bounds: typeof BOUNDS = BOUNDS,
): Observer {
  let broken = false;
  const steps = new Map<string, StepNote>();
  const attempt = (write: () => void) => {
    if (broken) return;
    try {
      write();
    } catch (error) {
      broken = true;
      const why = error instanceof Error ? error.message : String(error);
      report(`The debug folder cannot be written, so it is no longer used: ${why}`);
    }
  };
  attempt(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  const files = new NewestFiles(bounds);
  const log = new BoundedLog(join(folder, 'transitions.log'), bounds.logBytes);
  return {
    event(event, before, after) {
      const note = noteOf(event, before);
      if (note) {
        steps.set(note.agent, note);
        const kind = note.session ? 'prompt' : 'script';
        attempt(() => {
          const text = stepText(note, outputOf(note.agent, note.step, kind));
          files.write(join(folder, fileName(note)), text);
        });
        return;
      }
      const entry = logEntry(event, before, after, steps);
      if (entry === undefined) return;
      attempt(() => log.append(entry));
      if (endsStep(event)) steps.delete(event.agent);
    },
    live: () => {},
  };
}

interface StepNote {
  readonly agent: string;
  readonly state: string;
  readonly step: number;
  readonly at: number;
  readonly costUsd: number;
  /** The session of a turn; scripts have none. */
  readonly session: SessionUse | undefined;
}

/** The facts about a step that are logged with the transition after it. */
function noteOf(event: RunEvent, before: Run | undefined): StepNote | undefined {
  const agent = isStepEnd(event) ? before?.agents.get(event.agent) : undefined;
  if (!isStepEnd(event) || agent?.status.kind !== 'running') return undefined;
  const { step, at, cost } = event;
  // The state of a judge is not the state of its agent.
  const { state, session } = agent.status;
  return { agent: agent.id, state, step, at, costUsd: cost.usd, session };
}

/**
 * An override is followed by the transition that replaces the tags. The step is logged with that one.
 */
function endsStep(event: RunEvent): event is Extract<RunEvent, { agent: string }> {
  return 'agent' in event && event.type !== 'transition-overridden';
}

/** A list of JSON values: the step, its output and its cost. */
function stepText(note: StepNote, output: readonly unknown[]): string {
  const kept = [
    {
      type: 'step',
      agent_id: note.agent,
      current_state: note.state,
      step_number: note.step,
      timestamp: new Date(note.at).toISOString(),
    },
    ...output,
    { type: 'cost', cost_usd: note.costUsd },
  ];
  return `${visibleJson(kept, 2)}\n`;
}

function fileName({ agent, state, step }: StepNote): string {
  const stem = state.replace(/\.[^.]+$/, '');
  // A journal from elsewhere may have any text as a name.
  return `${agent}_${stem}_${String(step).padStart(3, '0')}.json`.replace(/[/\\\0]/g, '-');
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
  const step = endsStep(event) ? steps.get(event.agent) : undefined;
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

/** The session of the turn before the transition. After a script, the session of the agent. */
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

/** In cents if that is exact, so that a small cost is not shown as 0. */
function money(amount: number): string {
  return `$${amount.toFixed(6).replace(/0{1,4}$/, '')}`;
}

function transitionLine(event: RunEvent, before: Run | undefined, after: Run): string | undefined {
  const id = 'agent' in event ? event.agent : '';
  const from = before?.agents.get(id)?.state;
  const who = `[${id}] ${from ?? ''}`;
  switch (event.type) {
    case 'stop-requested':
      return `[run] stop (${event.why}, ${event.how})`;
    case 'agent-moved':
      return `${who} -> ${event.state} (${event.tag})`;
    case 'agent-forked':
      return `[${event.parent}] forks ${event.agent} -> ${event.state} (fork)`;
    case 'agent-ended':
      return `${who} -> (result, terminated)`;
    case 'agent-failed':
      return `${who} -> (failed)`;
    case 'join-started':
      return `${who} -> ${event.next} (join: waits for ${event.workers.join(', ') || 'no child agent'})`;
    case 'join-reported':
      return `${who} -> ${event.state} (join: ${event.why})`;
    case 'agent-stopped':
      return `${who} -> (stopped by ${event.by})`;
    case 'agent-asked':
      return `${who} -> ${event.next} (ask)`;
    case 'permission-asked':
      return `${who}: asks permission for ${event.tool}`;
    case 'permission-answered':
      return `${who}: ${event.decision} (permission${event.rule === undefined ? '' : ', by a rule'})`;
    case 'question-timed-out':
      return `${who} -> ${after.agents.get(event.agent)?.state ?? ''} (no answer in time)`;
    case 'agent-reminded':
      return `${who} -> ${from} (reminder ${event.number})`;
    case 'agent-waits':
      return `${who} -> ${from} (retry)`;
    case 'check-called':
      return `${who}: check ${event.ensure + 1} is executed (${event.run.replace(/\s+/g, ' ')})`;
    case 'judge-called':
      return `${who}: evaluator ${event.evaluator + 1} is asked`;
    case 'handover-called':
      return `${who} -> ${event.state} (${event.tag}, after a handover)`;
    case 'prompt-filled':
      return `${who}: filled ${Object.keys(event.values).join(', ')}`;
    case 'transition-overridden':
      return `${who}: ${event.by === 'ensures' ? 'a failed check' : `evaluator ${event.by}`} overrides ${event.written.map((t) => t.name).join(', ')} with ${event.taken.name}`;
    default:
      return ignore<'answer-signed' | 'words-said' | 'words-heard'>(event);
  }
}

function localStamp(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${date.toTimeString().slice(0, 8)}`;
}
