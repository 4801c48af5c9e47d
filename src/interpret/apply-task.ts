/** The tasks that follow from an answer that was not taken: reminders, and the counts of them. */
import type { RunEventOf, Task } from '../model/event.ts';
import type { AgentStatus } from '../model/run.ts';
import { ownerOf, taskOf } from './change-agent.ts';

export function reminded(status: AgentStatus, event: RunEventOf<'agent-reminded'>): Task {
  const { number, text, session, ensure } = event;
  const task = taskOf(status);
  if ((task.kind === 'judge' || task.kind === 'fill') && session !== undefined)
    return { ...task, reminder: { number, text, session, ...ownerOf(event) } };
  const { unmet } = unmetOf(status);
  if (ensure === undefined) return { kind: 'reminder', number, text, ...(unmet && { unmet }) };
  // A reminder about a check does not use up the reminders about tags.
  return {
    kind: 'reminder',
    number: remindersOf(task),
    text,
    unmet: { ...unmet, [ensure]: number },
  };
}

/** The number of reminders about tags that an agent got in its state. */
export function remindersOf(task: Task): number {
  if (task.kind === 'reminder') return task.number;
  return task.kind === 'check' ? task.reminders : 0;
}

/** A judge and a check are asked between reminders, so each task keeps the counts. */
export function unmetOf(status: AgentStatus): {
  readonly unmet?: Readonly<Record<string, number>>;
} {
  const task = taskOf(status);
  return 'unmet' in task && task.unmet ? { unmet: task.unmet } : {};
}
