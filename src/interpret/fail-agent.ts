import type { RunEvent } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Run } from '../model/run.ts';

/** The events of a failed agent. With `--fail-fast` they stop the other agents. */
export function failAgent(
  run: Run,
  agent: string,
  failure: Failure,
  at: number,
): readonly RunEvent[] {
  const events: RunEvent[] = [{ type: 'agent-failed', at, agent, failure }];
  if (run.settings.failFast && run.status.kind === 'active') {
    events.push({ type: 'stop-requested', at, how: 'now', why: 'failure' });
  }
  return events;
}
