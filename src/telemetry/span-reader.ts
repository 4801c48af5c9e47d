/**
 * Turns the events of a run into spans: run, agent, step, tool. A span contains no text of a prompt, an
 * answer, a tool call or a failure, because such texts may be secret.
 *
 * Each process that works on a run has one span for its part of the run. All parts are in one trace. A
 * step that a process adopts is in the part of the process that saw its end.
 */
import type { RunEvent, StepEndEvent } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { Agent, Run, RunningStatus } from '../model/run.ts';
import type { Usage } from '../model/step-account.ts';
import type { Live, StepKey } from '../ports.ts';
import type { Attributes, FinishedSpan } from './otlp.ts';
import { workflowName } from './workflow-name.ts';

interface SpanIds {
  readonly trace: (run: Run) => string;
  readonly newSpan: () => string;
}

/** The provider of an executor's models, in the words of OpenTelemetry where it has one. */
export type Providers = (executor: string) => string;

export class SpanReader {
  readonly #ids: SpanIds;
  readonly #providerOf: Providers;
  #traceId = '';
  #run: OpenSpan | undefined;
  readonly #agents = new Map<string, OpenSpan>();
  readonly #steps = new Map<string, OpenStep>();
  #lastAt = 0;

  constructor(ids: SpanIds, providerOf: Providers) {
    this.#ids = ids;
    this.#providerOf = providerOf;
  }

  /** The spans that the event ends. */
  event(event: RunEvent, before: Run | undefined, after: Run): readonly FinishedSpan[] {
    if (!this.#run) this.#begin(event, before, after);
    this.#lastAt = Math.max(this.#lastAt, event.at);
    if (event.type === 'agent-forked') this.#openAgent(event.agent, event.parent, event.at);
    if (event.type === 'step-started' || event.type === 'step-taken') {
      const agent = after.agents.get(event.agent);
      // A step in a queue begins later.
      if (agent?.status.kind === 'running' && !agent.status.isQueued)
        this.#openStep(agent.id, agent.status, agent.status.task.kind, agent.attempts);
      return [];
    }
    if (isStepEnd(event)) return this.#endStep(event);
    if (event.type === 'agent-ended' || event.type === 'agent-stopped')
      return this.#endAgent(event.agent, event.at, { 'raymond.end': event.type.slice(6) });
    if (event.type === 'agent-failed') {
      const open = this.#agents.get(event.agent);
      if (open) open.failure = event.failure.kind;
      return [];
    }
    if (event.type === 'run-ended') return this.#end(event.at, event.outcome);
    return [];
  }

  live({ agent, step }: StepKey, live: Live, at: number): readonly FinishedSpan[] {
    const open = this.#steps.get(agent);
    if (!open || open.step !== step) return [];
    // A tool is at work until the agent says something else.
    const ended = endTool(open, at);
    if (live.kind === 'tool') {
      open.tool = this.#open(open.id, `execute_tool ${live.name}`, at, {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': live.name,
      });
    }
    return ended;
  }

  /** The spans that are still open, if the process ends without the end of the run. */
  close(): readonly FinishedSpan[] {
    return this.#end(this.#lastAt, 'left');
  }

  #begin(event: RunEvent, before: Run | undefined, after: Run): void {
    this.#traceId = this.#ids.trace(after);
    const workflow = workflowName(after);
    this.#run = this.#open(undefined, `invoke_workflow ${workflow}`, event.at, {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': workflow,
      'raymond.run.id': after.id,
      'raymond.resumed': event.type === 'run-resumed',
    });
    // An agent that this event forks has its own event, which follows.
    for (const [id, agent] of (before?.agents.size ? before : after).agents) {
      this.#openAgent(id, agent.parent, event.at);
      if (before && agent.status.kind === 'running' && !agent.status.isQueued)
        this.#openStep(id, agent.status, agent.status.task.kind, agent.attempts);
    }
  }

  #open(parentId: string | undefined, name: string, from: number, attributes: Attributes) {
    const ids = { traceId: this.#traceId, id: this.#ids.newSpan(), parentId };
    return { ...ids, name, from, attributes, failure: undefined } satisfies OpenSpan;
  }

  #openAgent(agent: string, parent: Agent['parent'], at: number): void {
    const span = this.#open(this.#run?.id, `agent ${agent}`, at, {
      ...this.#common(agent),
      'raymond.agent.parent': parent,
    });
    this.#agents.set(agent, span);
  }

  #openStep(agent: string, status: RunningStatus, task: string, attempt: number): void {
    const { step, state, startedAt, session, executor } = status;
    const isPrompt = session !== undefined;
    const span = this.#open(
      this.#agents.get(agent)?.id ?? this.#run?.id,
      `${isPrompt ? 'invoke_agent' : 'script'} ${state}`,
      startedAt,
      {
        ...this.#common(agent),
        'raymond.step': step,
        'raymond.state': state,
        'raymond.task': task,
        'raymond.attempt': attempt,
        ...(isPrompt && {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': state,
          'gen_ai.agent.id': agent,
          'gen_ai.conversation.id': session.id,
          'gen_ai.provider.name': executor && this.#providerOf(executor),
          'raymond.executor': executor,
        }),
      },
    );
    this.#steps.set(agent, { ...span, step, tool: undefined });
  }

  #common(agent: string): Attributes {
    return { 'raymond.run.id': this.#run?.attributes['raymond.run.id'], 'raymond.agent.id': agent };
  }

  #endStep(event: StepEndEvent): readonly FinishedSpan[] {
    const open = this.#steps.get(event.agent);
    if (!open) return [];
    this.#steps.delete(event.agent);
    const { usage, cost, model } = event;
    const failure = event.type === 'step-failed' ? event.failure.kind : undefined;
    const span = finished({ ...open, failure }, event.at, {
      'raymond.end': event.type.slice(5),
      'raymond.cost.usd': cost.usd,
      'raymond.cost.from': cost.from,
      'gen_ai.request.model': model,
      'gen_ai.usage.input_tokens': usage && allInput(usage),
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cacheReadTokens,
      'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
      'raymond.denied': event.type === 'step-ended' ? event.denied.length : undefined,
    });
    return [...endTool(open, event.at), span];
  }

  #endAgent(agent: string, at: number, more: Attributes): readonly FinishedSpan[] {
    const open = this.#agents.get(agent);
    this.#agents.delete(agent);
    return open ? [finished(open, at, more)] : [];
  }

  /** Agents that are not over continue in the part of another process. */
  #end(at: number, outcome: string): readonly FinishedSpan[] {
    const run = this.#run;
    if (!run) return [];
    this.#run = undefined;
    const agents = [...this.#agents.keys()].flatMap((agent) => this.#endAgent(agent, at, {}));
    const failure = outcome === 'failed' ? outcome : undefined;
    return [...agents, finished({ ...run, failure }, at, { 'raymond.outcome': outcome })];
  }
}

interface OpenSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly from: number;
  readonly attributes: Attributes;
  /** The kind of the failure. */
  failure: string | undefined;
}

interface OpenStep extends OpenSpan {
  readonly step: number;
  tool: OpenSpan | undefined;
}

function endTool(open: OpenStep, at: number): readonly FinishedSpan[] {
  const { tool } = open;
  open.tool = undefined;
  return tool ? [finished(tool, at, {})] : [];
}

function finished(open: OpenSpan, to: number, more: Attributes): FinishedSpan {
  const { traceId, id: spanId, parentId, name, from, failure } = open;
  const attributes = { ...open.attributes, ...more, 'error.type': failure };
  return { traceId, spanId, parentId, name, from, to, attributes, isError: failure !== undefined };
}

/** OpenTelemetry counts cached tokens as input. */
const allInput = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage) =>
  inputTokens + cacheReadTokens + cacheWriteTokens;
