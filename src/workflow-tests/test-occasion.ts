/** The occasion of a test that names a trigger: what starts its run, when, and with which input. */
import { matchesPayload } from '../hooks/match-payload.ts';
import {
  type OccasionCause,
  type StartedBy,
  startedByOf,
  type Trigger,
  triggerName,
} from '../model/trigger.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import type { WorkflowTest } from '../parse/test-file.ts';
import { dueTimes, nextTime } from '../triggers/due.ts';
import { isMeantFile } from '../triggers/inbox.ts';
import { occasionOf } from '../triggers/occasion.ts';

export interface TestOccasion {
  /** When the run starts. */
  readonly at: number;
  readonly startedBy: StartedBy;
  readonly input: string | undefined;
}

/** Throws a UserError if the occasion would start no run. */
export function testOccasion(
  workflow: Workflow,
  test: WorkflowTest,
  from = Date.UTC(2026, 0, 1),
): TestOccasion {
  const trigger = named(workflow, test.trigger ?? '');
  const at = test.at === undefined ? undefined : timeIn(test.at);
  const key = { project: '.', workflow: workflow.ref, name: triggerName(trigger) };
  const begun = (cause: OccasionCause, time: number, input?: string) => ({
    ...{ at: time, input },
    startedBy: startedByOf(occasionOf(key, workflow.name, cause, time)),
  });
  switch (trigger.kind) {
    case 'schedule': {
      const time = at ?? nextTime(trigger, from) ?? from;
      const { times } = dueTimes({ ...trigger, missed: 'once' }, time - 1, time);
      if (times.length > 0) return begun({ kind: 'schedule', time }, time, test.input);
      const next = nextTime(trigger, time);
      throw refused(
        `${key.name} is not due at ${test.at}`,
        next === undefined ? '' : ` The next time is ${new Date(next).toISOString()}.`,
      );
    }
    case 'webhook': {
      const payload = test.payload ?? {};
      if (!matchesPayload(trigger.match, payload))
        throw refused(`the payload does not match ${JSON.stringify(trigger.match)}`);
      const cause = { kind: 'webhook', delivery: 'test' } as const;
      return begun(cause, at ?? from, JSON.stringify(payload));
    }
    case 'files': {
      const { file } = test;
      if (file === undefined) throw refused(`the test of ${key.name} names no file`, ' Add file:');
      if (!isMeantFile(trigger, file)) throw refused(`${file} does not match ${trigger.pattern}`);
      return begun({ kind: 'files', path: file, identity: 'test' }, at ?? from, file);
    }
  }
}

/** By its kind, by the name of its webhook, or by its whole name. */
function named({ about }: Workflow, name: string): Trigger {
  const { triggers = [] } = about;
  const isNamed = (one: Trigger) =>
    [one.kind, triggerName(one), one.kind === 'webhook' ? one.name : one.kind].includes(name);
  const [found, ...others] = triggers.filter(isNamed);
  if (found && others.length === 0) return found;
  const names = triggers.map(triggerName).join(', ') || 'none';
  throw refused(
    found ? `several triggers are called "${name}"` : `no trigger is called "${name}"`,
    ` The workflow has: ${names}.`,
  );
}

function timeIn(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time) || !/T.*(Z|[+-]\d\d:?\d\d)$/.test(text))
    throw refused(`at: ${text} is not a time`, ' Write it like 2026-03-29T03:30:00+02:00.');
  return time;
}

const refused = (why: string, remedy = '') =>
  new UserError('bad-file', `The run would not start: ${why}.`, `Change the test.${remedy}`);
