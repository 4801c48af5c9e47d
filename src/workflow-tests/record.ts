/** Turns a finished run into a test: its inputs in their order, and its results. */
import { stringify } from 'yaml';
import { newRun } from '../interpret/new-run.ts';
import type { Agents } from '../model/agent.ts';
import type { RunEvent, RunEventOf, Settings } from '../model/event.ts';
import { ignore, isStepEnd } from '../model/event-kinds.ts';
import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { optionTable, valueInSettings } from '../options/chosen-options.ts';
import { configKey } from '../options/option-names.ts';
import { allChoices } from '../parse/agent-choices.ts';
import type { Recorded, TestSettings, WorkflowTest } from '../parse/test-file.ts';
import { depthOf, pathOf } from './expectations.ts';

interface RecordingOf {
  readonly agents: Agents;
  readonly run: Run;
  readonly events: readonly RunEvent[];
  /** The text of a step's answer or output; undefined when Raymond did not keep it. */
  readonly output: (agent: string, step: number, kind: 'prompt' | 'script') => string | undefined;
}

export function recordTest({ agents, run, events, output }: RecordingOf): WorkflowTest {
  const [started] = events;
  if (started?.type !== 'run-started' || run.status.kind !== 'ended')
    throw new UserError(
      'not-over',
      `${run.id} has not finished.`,
      `Wait until it finishes, or stop it: raymond stop ${shellWord(run.id)}`,
    );
  const stopped = stoppedSteps(events);
  if (events.some((event) => isInterruption(event, stopped)))
    throw new UserError(
      'was-interrupted',
      `${run.id} was stopped or resumed, which a test cannot repeat.`,
      'Record a run that finished without a stop.',
    );
  return {
    name: run.id,
    ...(started.input !== undefined && { input: started.input }),
    ...(Object.keys(run.metadata).length > 0 && { set: { ...run.metadata } }),
    settings: writtenSettings(started.settings, agents),
    recorded: inputsOf(run.id, events, output),
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

function isInterruption(event: RunEvent, stopped: ReadonlySet<RunEvent>): boolean {
  const { type } = event;
  if (type === 'stop-requested') return event.why === 'person';
  return type === 'run-resumed' || (type === 'step-interrupted' && !stopped.has(event));
}

/** The ends of steps that a join has stopped. */
function stoppedSteps(events: readonly RunEvent[]): ReadonlySet<RunEvent> {
  const requested = new Set<string>();
  const stopped = new Set<RunEvent>();
  for (const event of events) {
    if (event.type === 'agent-stop-requested') requested.add(event.agent);
    if (isStepEnd(event) && requested.has(event.agent)) stopped.add(event);
  }
  return stopped;
}

/** The test as YAML, in a form that people can read. */
export function writeTest(test: WorkflowTest): string {
  return [
    `# Recorded from the run ${test.name}. Run it with: raymond test`,
    stringify(test, { lineWidth: 0, blockQuote: 'literal' }),
  ].join('\n');
}

function inputsOf(
  id: string,
  events: readonly RunEvent[],
  output: RecordingOf['output'],
): Recorded[] {
  const running = new Map<string, RunEventOf<'step-started'>>();
  /** The agents whose join is over, but has not reported yet. */
  const closed = new Set<string>();
  /** The inputs between two starts of steps. */
  const spans: Recorded[][] = [[]];
  for (const event of events) {
    if (event.type === 'step-started') {
      running.set(event.agent, event);
      spans.push([]);
    }
    const step = 'agent' in event ? running.get(event.agent) : undefined;
    const isDecided = event.type === 'join-reported' && closed.delete(event.agent);
    if (event.type === 'join-closed') closed.add(event.agent);
    const entry = isDecided ? undefined : entryFor(event, step, id, output);
    if (entry) spans.at(-1)?.push(entry);
  }
  return spans.flatMap(markTogether);
}

/**
 * The loop starts steps after it has handled all inputs that arrived together. So in a span that
 * ends with a start, the inputs that arrived together with the last one must arrive together again.
 * No earlier input led to a start. Each agent has at most one pending input, which bounds the size
 * of the group.
 */
function markTogether(span: readonly Recorded[]): readonly Recorded[] {
  const agents = new Set<string>();
  let first = span.length;
  while (first > 0) {
    const entry = span[first - 1];
    if (!entry || ('agent' in entry && agents.has(entry.agent))) break;
    first -= 1;
    if (!('agent' in entry)) break;
    agents.add(entry.agent);
  }
  return span.map((entry, index) => (index > first ? { ...entry, together: true } : entry));
}

function entryFor(
  event: RunEvent,
  step: RunEventOf<'step-started'> | undefined,
  id: string,
  output: RecordingOf['output'],
): Recorded | undefined {
  switch (event.type) {
    case 'step-ended': {
      const { agent, cost, exit, denied } = event;
      const answer = output(agent, event.step, step?.session ? 'prompt' : 'script');
      if (answer === undefined) throw notKept(id, agent, step?.state ?? 'a step');
      return {
        agent,
        state: step?.state ?? '',
        answer,
        ...(cost.usd > 0 && { cost: cost.usd }),
        ...(exit !== undefined && { exit }),
        ...(denied.length > 0 && { denied: [...denied] }),
      };
    }
    case 'step-failed': {
      const { agent, cost, failure } = event;
      return {
        agent,
        state: step?.state ?? '',
        failure: failure.kind,
        message: failure.message,
        ...(cost.usd > 0 && { cost: cost.usd }),
        ...(failure.resetsAt !== undefined && { resets_at: failure.resetsAt }),
      };
    }
    case 'step-interrupted':
      return {
        agent: event.agent,
        state: step?.state ?? '',
        stopped: true,
        ...(event.cost.usd > 0 && { cost: event.cost.usd }),
      };
    case 'state-entered':
      return { agent: event.agent, entered: event.digest };
    case 'agent-answered':
      return { agent: event.agent, reply: event.text };
    case 'join-closed':
    case 'join-reported':
      return event.why === 'timeout' ? { agent: event.agent, came: 'time' } : undefined;
    case 'agent-woke':
    case 'question-timed-out':
      return { agent: event.agent, came: 'time' };
    case 'usage-limit-lifted':
      return { came: 'end of usage limit' };
    default:
      return ignore<
        'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'
      >(event);
  }
}

function notKept(id: string, agent: string, state: string): UserError {
  return new UserError(
    'not-kept',
    `Raymond did not keep the answer of ${agent} in ${state} of ${id}.`,
    'Record a run of this version of Raymond.',
  );
}

function otherPaths(events: readonly RunEvent[]): Record<string, string[]> {
  const forked = events.flatMap((event) => (event.type === 'agent-forked' ? [event.agent] : []));
  return Object.fromEntries(forked.map((agent) => [agent, [...pathOf(events, agent)]]));
}

/** Only settings that a person chose. */
function writtenSettings(settings: Settings, agents: Agents): TestSettings {
  const usual = { ...newRun.settings, agent: agents.defaults };
  const written = optionTable({ choices: allChoices(agents) }).flatMap((row) => {
    const value = valueInSettings(settings, row);
    // A test has its own limit of steps, so the limit of the run is always written.
    const isUsual = row.setting !== 'maxIterations' && value === valueInSettings(usual, row);
    if (!row.inTests || value === undefined || isUsual) return [];
    // The key of a switch names the form that is not the default.
    return [[configKey(row), row.kind === 'flag' ? true : value]];
  });
  return Object.fromEntries(written);
}
