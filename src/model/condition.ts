/** The condition of a run: what its events say, and whether a process works on it. */
import type { RunOutcome } from './event.ts';
import { NO_LIMITS, openLimits } from './limits.ts';
import type { RunSummary } from './run-summary.ts';
import { atWork, type Tally } from './tally.ts';

/** Those of a run that can be read. */
export const READABLE_CONDITIONS = [
  'running',
  'stopping',
  'waiting',
  'paused',
  'failed',
  'crashed',
  'interrupted',
  'stopped',
  'completed',
] as const;

/** All kinds, as `raymond list --status` and the API take them. */
export const CONDITIONS = [...READABLE_CONDITIONS, 'damaged'] as const;

export type Condition = RunCondition | { readonly kind: 'damaged' };

export type RunCondition =
  | { readonly kind: 'running' | 'stopping'; readonly asks: Asks }
  /** No process is left: the run needs a person and then a resume. */
  | { readonly kind: 'waiting'; readonly for: 'resume' }
  | { readonly kind: 'waiting'; readonly for: 'worker' }
  | { readonly kind: 'waiting'; readonly for: 'person'; readonly asks: Asks }
  | {
      readonly kind: 'waiting';
      readonly for: 'limit';
      readonly limit: string;
      readonly until: number;
      readonly asks: Asks;
    }
  | { readonly kind: 'stopped'; readonly by: 'budget' | 'iterations' | 'shutdown' }
  | { readonly kind: 'paused' | 'failed' | 'crashed' | 'interrupted' | 'completed' };

/** What the agents of a run want from a person, whatever else the run does. */
export type Asks = Pick<Tally, 'asking' | 'asksPermission'>;

export interface StoredFacts {
  readonly kind: 'stored';
  readonly run: Pick<RunSummary, 'status' | 'tally' | 'limits'>;
  /** The process that works on the run. */
  readonly owner: { readonly isAwaited?: true } | undefined;
}

export type FoundFacts = StoredFacts | { readonly kind: 'damaged' };

export function conditionOf(found: StoredFacts): RunCondition;
export function conditionOf(found: FoundFacts): Condition;
export function conditionOf(found: FoundFacts): Condition {
  if (found.kind === 'damaged') return { kind: 'damaged' };
  const { run, owner } = found;
  if (run.status.kind === 'ended') return ended(run.status.outcome);
  if (!owner) return { kind: 'crashed' };
  const { tally, limits = NO_LIMITS } = run;
  const asks = { asking: tally.asking, asksPermission: tally.asksPermission };
  if (run.status.kind === 'stopping') return { kind: 'stopping', asks };
  if (owner.isAwaited) return { kind: 'waiting', for: 'worker' };
  if (atWork(tally) > 0) return { kind: 'running', asks };
  const [limit] = openLimits(limits, 0);
  if (limit) return { kind: 'waiting', for: 'limit', limit: limit.text, until: limit.until, asks };
  return tally.asking + tally.asksPermission > 0
    ? { kind: 'waiting', for: 'person', asks }
    : { kind: 'running', asks };
}

function ended(outcome: RunOutcome): RunCondition {
  switch (outcome) {
    case 'stopped: budget':
      return { kind: 'stopped', by: 'budget' };
    case 'stopped: iterations':
      return { kind: 'stopped', by: 'iterations' };
    case 'stopped: shutdown':
      return { kind: 'stopped', by: 'shutdown' };
    case 'waiting':
      return { kind: 'waiting', for: 'resume' };
    default:
      return { kind: outcome };
  }
}

export const isCompleted = ({ status }: Pick<RunSummary, 'status'>): boolean =>
  status.kind === 'ended' && status.outcome === 'completed';

/** Whether a resume continues the run at once, without an answer of a person. */
export const isResumable = ({ kind }: Condition) => RESUMABLE.includes(kind);

const RESUMABLE: readonly Condition['kind'][] = [
  'crashed',
  'failed',
  'interrupted',
  'paused',
  'stopped',
];

/** Whether its process ended in a crash or a shutdown, and no person has asked for that. */
export function isCutOff(found: FoundFacts): boolean {
  const condition = conditionOf(found);
  if (found.kind === 'damaged') return false;
  const { status } = found.run;
  if (condition.kind === 'crashed') return !(status.kind === 'stopping' && status.why === 'person');
  return condition.kind === 'stopped' && condition.by === 'shutdown';
}

/** Whether it waits for a person without a process. */
export const needsAnswer = (condition: Condition) =>
  condition.kind === 'waiting' && condition.for === 'resume';
