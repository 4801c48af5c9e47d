/** Folds a resume into a run: the only event that changes several agents. */
import type { RunEventOf, Session, Task } from '../model/event.ts';
import type { Agent, AgentStatus, Run } from '../model/run.ts';
import { isDecided, joining, recounted } from './apply-join.ts';
import { begin, put, ready } from './change-agent.ts';

/**
 * Failed agents get a retry, and failed joins wait again. Reminded agents and reminded judges start
 * from the beginning. A failed check is executed again.
 */
export function resumed(run: Run, event: RunEventOf<'run-resumed'>): Run {
  let next: Run = { ...run, status: { kind: 'active' }, settings: event.settings };
  for (const [, agent] of run.agents) {
    const { status } = agent;
    if (status.kind !== 'failed' || isDecided(run, agent)) continue;
    next = put(next, agent, retried(run, agent, status, event));
  }
  return recounted(next);
}

function retried(
  run: Run,
  agent: Agent,
  { task, join }: Extract<AgentStatus, { kind: 'failed' }>,
  event: RunEventOf<'run-resumed'>,
): Agent {
  const given = { ...agent, retries: 0, input: event.input ?? agent.input };
  const again = event.fresh ? restartInNewSession(given, task) : retryFailedTask(given, task);
  return join ? { ...again, status: joining(run, join, event.at) } : again;
}

function retryFailedTask(agent: Agent, failed: Task): Agent {
  const task = withoutReminder(failed);
  const previousTry = task === failed ? agent.previousTry : undefined;
  return { ...agent, previousTry, status: ready(task) };
}

/**
 * A new session has nothing to continue and no reminder. If a caller would continue in the
 * abandoned session, it begins a new one too.
 */
function restartInNewSession(agent: Agent, failed: Task): Agent {
  if (failed.kind === 'judge' || failed.kind === 'fill')
    return begin(agent, withoutReminder(failed));
  const given = sessionId(agent.session);
  const stack = agent.stack.map((frame) =>
    given !== undefined && sessionId(frame.session) === given
      ? { ...frame, session: { kind: 'none' } as const }
      : frame,
  );
  return begin({ ...agent, stack, session: { kind: 'none' } }, { kind: 'state' });
}

function sessionId(session: Session): string | undefined {
  if (session.kind === 'none') return undefined;
  return session.kind === 'open' ? session.id : session.from;
}

function withoutReminder(task: Task): Task {
  if (task.kind === 'reminder') return { kind: 'state' };
  if (task.kind === 'fill') return { kind: 'fill' };
  if (task.kind === 'check') return { ...task, reminders: 0, unmet: undefined };
  if (task.kind !== 'judge') return task;
  const { kind, evaluator, output, tags } = task;
  return { kind, evaluator, output, tags };
}
