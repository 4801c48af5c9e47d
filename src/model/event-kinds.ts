/** For readers of events that handle only some kinds. */
import type { RunEvent, RunEventOf, StepEndEvent } from './event.ts';

/**
 * Ends a switch over events in a reader that ignores the other kinds. It accepts the kinds of
 * version 2. A kind that is added after its release does not compile here: each reader must handle
 * it, or name it as ignored (`ignore<'the-new-kind'>(event)`).
 */
export function ignore<Later extends RunEvent['type'] = never>(
  _event: RunEventOf<KindsOfVersion2 | NoInfer<Later>>,
): undefined {
  return undefined;
}

/** Do not extend this type after the release of version 2: see `ignore`. */
type KindsOfVersion2 =
  | 'run-started'
  | 'run-resumed'
  | 'workflow-read'
  | 'step-started'
  | 'step-taken'
  | 'state-entered'
  | 'step-ended'
  | 'step-failed'
  | 'step-interrupted'
  | 'agent-moved'
  | 'agent-forked'
  | 'agent-asked'
  | 'agent-answered'
  | 'question-timed-out'
  | 'permission-asked'
  | 'permission-answered'
  | 'permission-withdrawn'
  | 'agent-reminded'
  | 'check-called'
  | 'judge-called'
  | 'transition-overridden'
  | 'join-started'
  | 'join-closed'
  | 'join-reported'
  | 'agent-stop-requested'
  | 'agent-stopped'
  | 'worktree-settled'
  | 'agent-waits'
  | 'agent-woke'
  | 'agent-failed'
  | 'agent-ended'
  | 'usage-limited'
  | 'usage-limit-lifted'
  | 'stop-requested'
  | 'run-ended'
  | 'files-recorded'
  | 'run-rewound'
  | 'files-restored';

export function isStepEnd(event: RunEvent): event is StepEndEvent {
  const { type } = event;
  return type === 'step-ended' || type === 'step-failed' || type === 'step-interrupted';
}
