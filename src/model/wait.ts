/** Why an agent makes no progress. Nobody waits without a reason that a person can read. */
import { limitOn } from './limits.ts';
import type { Agent, Run } from './run.ts';

export const WAITS = ['person', 'retry', 'money', 'place', 'limit', 'worker', 'children'] as const;

export type Wait =
  | { readonly for: 'person' }
  | { readonly for: 'money' | 'worker' | 'retry' }
  /** All places for steps of its kind are taken. */
  | { readonly for: 'place'; readonly places: number }
  | { readonly for: 'limit'; readonly until: number }
  | { readonly for: 'children'; readonly open: number; readonly all: number };

/**
 * What an agent waits for; undefined if it works, has failed, or begins its next step now. If nobody
 * carries the run, nobody would start its next step: a resume decides that.
 */
export function waitOf(run: Run, agent: Agent, now: number, isCarried = true): Wait | undefined {
  const { status } = agent;
  switch (status.kind) {
    case 'asking':
      return { for: 'person' };
    case 'joining':
      return status.closed
        ? undefined
        : { for: 'children', open: status.open, all: status.join.workers.length };
    case 'waiting':
      return { for: 'retry' };
    case 'running':
      if (status.requests.length > 0) return { for: 'person' };
      return status.isQueued ? { for: 'worker' } : undefined;
    case 'ready':
      return isCarried && run.status.kind === 'active' ? waitOfReady(run, agent, now) : undefined;
    default:
      return undefined;
  }
}

export interface WaitCount {
  readonly wait: Wait;
  readonly count: number;
}

/** How many agents wait for what. Prompts and scripts have places of their own. */
export function waitsIn(run: Run, now: number, isCarried?: boolean): readonly WaitCount[] {
  const waits: Wait[] = [];
  for (const [, agent] of run.agents) {
    const wait = waitOf(run, agent, now, isCarried);
    if (wait) waits.push(wait);
  }
  return countWaits(waits);
}

/** In the order of the reasons. */
export function countWaits(waits: Iterable<Wait>): readonly WaitCount[] {
  const counts = new Map<string, WaitCount>();
  for (const wait of waits) {
    const key = wait.for === 'place' ? `place ${wait.places}` : wait.for;
    counts.set(key, { wait, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].toSorted((a, b) => placeOf(a) - placeOf(b));
}

const placeOf = ({ wait }: WaitCount) => WAITS.indexOf(wait.for);

/** An agent that nothing holds back starts at once, so a ready agent with a place waits for money. */
function waitOfReady(run: Run, agent: Agent, now: number): Wait | undefined {
  const { tally, settings } = run;
  if (!seemsToPrompt(agent))
    return tally.scriptsRunning < settings.maxParallelScripts
      ? undefined
      : { for: 'place', places: settings.maxParallelScripts };
  const until = limitOn(run.limits, agent);
  if (until !== undefined && until > now) return { for: 'limit', until };
  if (tally.promptsRunning - tally.asksPermission >= settings.maxParallelPrompts)
    return { for: 'place', places: settings.maxParallelPrompts };
  return settings.budgetUsd > 0 && tally.promptsRunning > 0 ? { for: 'money' } : undefined;
}

/** A run does not know the kinds of its states, but their names end accordingly. */
function seemsToPrompt({ status, state }: Agent): boolean {
  if (status.kind !== 'ready' || status.task.kind === 'state') return state.endsWith('.md');
  return status.task.kind !== 'check';
}
