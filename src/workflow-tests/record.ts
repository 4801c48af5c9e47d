/** Makes a test of a run that is over: what came in, in its order, and what came of it. */
import { stringify } from 'yaml';
import { newRun } from '../interpret/apply.ts';
import type { RunEvent, RunEventOf, Settings } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { Recorded, TestSettings, WorkflowTest } from '../parse/test-file.ts';
import { depthOf, pathOf } from './expectations.ts';

export interface RecordingOf {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  /** The text of a step's answer or output; undefined when it was not kept. */
  readonly output: (agent: string, step: number, kind: 'prompt' | 'script') => string | undefined;
}

export function recordTest({ run, events, output }: RecordingOf): WorkflowTest {
  const [started] = events;
  if (started?.type !== 'run-started' || run.status.kind !== 'ended')
    throw new UserError(
      'not-over',
      `${run.id} is not over.`,
      `Wait for its end, or stop it: raymond stop ${run.id}`,
    );
  return {
    name: run.id,
    ...(started.input !== undefined && { input: started.input }),
    ...(Object.keys(run.metadata).length > 0 && { set: { ...run.metadata } }),
    settings: writtenSettings(started.settings),
    recorded: whatCameIn(run.id, events, output),
    expect: {
      path: [...pathOf(events)],
      paths: otherPaths(events),
      ...(run.result !== undefined && { result: run.result }),
      outcome: run.status.outcome,
      depth: depthOf(events),
      cost: Math.round(run.totalCostUsd * 1e6) / 1e6,
    },
  };
}

/** The test as a person would want to read it. */
export function writeTest(test: WorkflowTest): string {
  return [
    `# Recorded from the run ${test.name}. Played by: raymond test`,
    stringify(test, { lineWidth: 0, blockQuote: 'literal' }),
  ].join('\n');
}

function whatCameIn(
  id: string,
  events: readonly RunEvent[],
  output: RecordingOf['output'],
): Recorded[] {
  const recorded: Recorded[] = [];
  const running = new Map<string, RunEventOf<'step-started'>>();
  /** Who has a say in the inputs since a step was last begun; undefined: nothing can be added. */
  let together = new Set<string>();
  const add = (entry: Recorded) => {
    const agent = 'agent' in entry ? entry.agent : undefined;
    const joins = agent !== undefined && together.size > 0 && !together.has(agent);
    if (!joins) together = new Set();
    if (agent !== undefined) together.add(agent);
    recorded.push(joins ? { ...entry, together: true } : entry);
  };
  for (const event of events) {
    if (event.type === 'step-started') {
      running.set(event.agent, event);
      together = new Set();
    }
    const step = 'agent' in event ? running.get(event.agent) : undefined;
    const entry = entryFor(event, step, id, output);
    if (entry) add(entry);
  }
  return recorded;
}

function entryFor(
  event: RunEvent,
  step: RunEventOf<'step-started'> | undefined,
  id: string,
  output: RecordingOf['output'],
): Recorded | undefined {
  switch (event.type) {
    case 'step-ended': {
      const { agent, costUsd, denied } = event;
      const answer = output(agent, event.step, step?.session ? 'prompt' : 'script');
      if (answer === undefined) throw notKept(id, agent, step?.state ?? 'a step');
      return {
        agent,
        state: step?.state ?? '',
        answer,
        ...(costUsd > 0 && { cost: costUsd }),
        ...(denied.length > 0 && { denied: [...denied] }),
      };
    }
    case 'step-failed': {
      const { agent, costUsd, failure } = event;
      return {
        agent,
        state: step?.state ?? '',
        failure: failure.kind,
        message: failure.message,
        ...(costUsd > 0 && { cost: costUsd }),
        ...(failure.resetsAt !== undefined && { resets_at: failure.resetsAt }),
      };
    }
    case 'agent-answered':
      return { agent: event.agent, reply: event.text };
    case 'agent-woke':
    case 'question-timed-out':
      return { agent: event.agent, came: 'time' };
    case 'usage-limit-lifted':
      return { came: 'end of usage limit' };
    default:
      return undefined;
  }
}

function notKept(id: string, agent: string, state: string): UserError {
  return new UserError(
    'not-kept',
    `What ${agent} answered in ${state} of ${id} was not kept.`,
    'Record a run that was made with this version of Raymond.',
  );
}

function otherPaths(events: readonly RunEvent[]): Record<string, string[]> {
  const forked = events.flatMap((event) => (event.type === 'agent-forked' ? [event.agent] : []));
  return Object.fromEntries(forked.map((agent) => [agent, [...pathOf(events, agent)]]));
}

/** Only what a person chose. */
function writtenSettings(settings: Settings): TestSettings {
  const usual = newRun.settings;
  const { idleTimeoutMs, maxParallelPrompts, permissionMode, model, effort } = settings;
  return {
    ...(settings.budgetUsd !== usual.budgetUsd && { budget: settings.budgetUsd }),
    // A test has a limit of its own, so the limit of the run is said in any case.
    max_iterations: settings.maxIterations,
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    ...(idleTimeoutMs !== usual.idleTimeoutMs && { timeout: idleTimeoutMs / 1000 }),
    ...(permissionMode !== usual.permissionMode && { permission_mode: permissionMode }),
    ...(settings.skipPermissions && { dangerously_skip_permissions: true }),
    ...(maxParallelPrompts !== usual.maxParallelPrompts && { max_parallel: maxParallelPrompts }),
    ...(settings.failFast && { fail_fast: true }),
    ...(!settings.wait && { no_wait: true }),
    ...(!settings.warm && { no_warm: true }),
    ...(settings.rehearse && { rehearse: true }),
  };
}
