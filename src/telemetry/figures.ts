/** The metrics of a run: cost, tokens, durations, failures. They count what this process saw. */
import type { RunEvent, RunEventOf, StepEndEvent } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { Run } from '../model/run.ts';
import type { Attributes, HistogramPoint, Metric, SumPoint } from './otlp.ts';
import { workflowName } from './workflow-name.ts';

export class Figures {
  readonly #sums = new Map<string, Map<string, { attributes: Attributes; value: number }>>();
  readonly #durations: Readonly<Record<DurationKey, Map<string, Timed>>> = {
    steps: new Map(),
    workflows: new Map(),
  };

  event(event: RunEvent, before: Run | undefined, after: Run): void {
    if (isStepEnd(event)) this.#step(event, before, after);
    if (event.type === 'agent-failed')
      this.#add('failures', 1, { 'error.type': event.failure.kind });
    if (event.type === 'run-ended') this.#end(event, after);
  }

  metrics(): readonly Metric[] {
    const sums = SUMS.flatMap(({ key, ...about }): readonly Metric[] => {
      const points: readonly SumPoint[] = [...(this.#sums.get(key)?.values() ?? [])];
      return points.length > 0 ? [{ ...about, kind: 'sum', points }] : [];
    });
    const durations = DURATIONS.flatMap(({ key, ...about }): readonly Metric[] => {
      const points: readonly HistogramPoint[] = [...this.#durations[key].values()];
      return points.length > 0 ? [{ ...about, kind: 'histogram', points }] : [];
    });
    return [...sums, ...durations];
  }

  /** A run that was resumed counts with all of its processes, and with the time between them. */
  #end({ outcome, at }: RunEventOf<'run-ended'>, run: Run): void {
    this.#add('runs', 1, { 'raymond.outcome': outcome });
    const attributes = {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': workflowName(run),
      'error.type': outcome === 'failed' ? outcome : undefined,
    };
    this.#time('workflows', attributes, Math.max(0, at - run.startedAt) / 1000);
  }

  #step(event: StepEndEvent, before: Run | undefined, run: Run): void {
    const status = before?.agents.get(event.agent)?.status;
    if (status?.kind !== 'running') return;
    const attributes = {
      'gen_ai.workflow.name': workflowName(run),
      'raymond.state': status.state,
      'raymond.kind': status.session ? 'prompt' : 'script',
    };
    this.#add('steps', 1, { ...attributes, 'raymond.end': event.type.slice(5) });
    if (event.cost.usd > 0) {
      const from = { 'raymond.cost.from': event.cost.from };
      this.#add('cost', event.cost.usd, { ...attributes, ...from });
    }
    const { usage } = event;
    if (usage) {
      for (const [type, count] of Object.entries({
        input: usage.inputTokens,
        output: usage.outputTokens,
        cache_read: usage.cacheReadTokens,
        cache_creation: usage.cacheWriteTokens,
      }))
        this.#add('tokens', count, { ...attributes, 'gen_ai.token.type': type });
    }
    if (event.type === 'step-failed')
      this.#add('step-failures', 1, { ...attributes, 'error.type': event.failure.kind });
    if (!status.isQueued)
      this.#time('steps', attributes, Math.max(0, event.at - status.startedAt) / 1000);
  }

  #add(key: SumKey, value: number, attributes: Attributes): void {
    const points = this.#sums.get(key) ?? new Map();
    this.#sums.set(key, points);
    const name = JSON.stringify(attributes);
    const point = points.get(name) ?? { attributes, value: 0 };
    points.set(name, { attributes, value: point.value + value });
  }

  #time(key: DurationKey, attributes: Attributes, seconds: number): void {
    const durations = this.#durations[key];
    const name = JSON.stringify(attributes);
    const point = durations.get(name) ?? newTimed(attributes);
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    const index = bucket < 0 ? BOUNDS.length : bucket;
    point.counts[index] = (point.counts[index] ?? 0) + 1;
    point.count += 1;
    point.sum += seconds;
    durations.set(name, point);
  }
}

const SUMS = [
  { key: 'steps', name: 'raymond.steps', unit: '{step}', description: 'Steps that are over' },
  { key: 'cost', name: 'raymond.cost', unit: 'USD', description: 'The cost of steps' },
  { key: 'tokens', name: 'raymond.tokens', unit: '{token}', description: 'The tokens of prompts' },
  {
    key: 'step-failures',
    name: 'raymond.step.failures',
    unit: '{step}',
    description: 'Steps that failed, also those that are repeated',
  },
  {
    key: 'failures',
    name: 'raymond.agent.failures',
    unit: '{agent}',
    description: 'Agents that failed',
  },
  { key: 'runs', name: 'raymond.runs', unit: '{run}', description: 'Ends of runs' },
] as const;
type SumKey = (typeof SUMS)[number]['key'];

const DURATIONS = [
  {
    key: 'steps',
    name: 'raymond.step.duration',
    unit: 's',
    description: 'The time from the start of a step to its end',
  },
  {
    key: 'workflows',
    name: 'gen_ai.workflow.duration',
    unit: 's',
    description: 'The time from the start of a run to its end',
  },
] as const;
type DurationKey = (typeof DURATIONS)[number]['key'];

const BOUNDS = [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];

interface Timed {
  readonly attributes: Attributes;
  count: number;
  sum: number;
  readonly bounds: readonly number[];
  readonly counts: number[];
}

function newTimed(attributes: Attributes): Timed {
  return { attributes, count: 0, sum: 0, bounds: BOUNDS, counts: BOUNDS.map(() => 0).concat(0) };
}
