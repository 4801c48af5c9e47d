/**
 * Plays the agent without a model: with the answers in the author's rehearsal file, and otherwise
 * with the answers that the workflow itself allows.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEvent } from '../../model/event.ts';
import type { Run } from '../../model/run.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { ScriptState, Workflow } from '../../model/workflow.ts';
import {
  type Answer,
  answerFor,
  checkFor,
  type Rehearsal,
  writtenFailure,
  writtenFor,
} from '../../parse/rehearsal-file.ts';
import type { CheckStep, Executor, Step } from '../../ports.ts';
import { after } from '../turn/outcomes.ts';
import { possibleAnswers } from './possible-answers.ts';
import { type ScriptedAnswer, scriptedAgent } from './scripted.ts';

interface RehearsalParts {
  readonly workflow: (ref: string) => Workflow | undefined;
  /** The author's rehearsal file for a workflow; undefined if there is none. */
  readonly rehearsalOf: (ref: string) => Promise<Rehearsal | undefined>;
  /** The answers that a script may print, judged by its text. */
  readonly scriptAnswers: (workflow: Workflow, script: ScriptState) => readonly string[];
  /** Executes scripts without an answer in the rehearsal file. If absent, no script is executed. */
  readonly script?: Executor;
}

export interface RehearsingExecutors {
  readonly prompt: Executor;
  readonly script: Executor;
  /** Counts executions that happened before this process began. */
  remember(event: RunEvent, after: Run): void;
}

export function rehearsal(parts: RehearsalParts): RehearsingExecutors {
  const { workflow, rehearsalOf, scriptAnswers, script } = parts;
  const executions = new Map<string, number>();
  /** The command of the check that an agent executes next. */
  const called = new Map<string, string>();
  const count = (key: string, more: number) => {
    const counted = (executions.get(key) ?? 0) + more;
    executions.set(key, counted);
    return Math.max(1, counted);
  };
  /** The answer in the author's file, if it has one. An adopted step was counted when it was started. */
  const fromFile = async (step: Step, more: 0 | 1): Promise<Played> => {
    if (step.kind === 'check') {
      const execution = count(checkKey(step), more);
      const { checks } = (await rehearsalOf(step.workflow)) ?? {};
      const found = checkFor(checks, step.command, execution);
      return { execution, answer: found && { text: found.output ?? '', exit: found.exit } };
    }
    const writes = step.kind === 'prompt' ? step.writes : undefined;
    const counted = { ...step, what: writes?.kind };
    const number = count(stateKey(counted), more);
    const ofAgent = count(agentKey(counted), more);
    const { state, agent } = step;
    const file = (await rehearsalOf(step.workflow)) ?? {};
    if (writes)
      return { execution: number, answer: asScripted(writtenFor(file, writes, { state, number })) };
    const answer = answerFor(file, { state, agent, number, ofAgent });
    return { execution: ofAgent, answer: answer === undefined ? undefined : asScripted(answer) };
  };
  const invented = (step: Step, execution: number): ScriptedAnswer => {
    if (step.kind === 'check') return PASSED;
    const source = workflow(step.workflow);
    const state = source?.states.get(step.state);
    if (step.kind === 'prompt') {
      const possible = source ? possibleAnswers(source, state, step.prompt) : [];
      const hasSchema = state?.kind === 'prompt' && state.policy.allowed?.some((one) => one.schema);
      return inTurn(possible, execution) ?? (hasSchema ? noFit(step) : noWayOn(step));
    }
    const possible = source && state?.kind === 'script' ? scriptAnswers(source, state) : [];
    return inTurn(possible, execution) ?? notPlayable(step);
  };
  /** `real` executes the steps without an answer in the file. */
  const rehearsing = (real?: Executor): Executor => {
    const begin =
      (how: 'start' | 'adopt'): Executor['start'] =>
      (step, live, ask) => {
        if (step.kind === 'prompt' && how === 'start') live({ kind: 'prompt', text: step.prompt });
        const found = fromFile(step, how === 'start' ? 1 : 0);
        const played = scriptedAgent(async () => {
          const { answer, execution } = await found;
          return kept(step, answer ?? invented(step, execution));
        });
        if (!real) return played.start(step, live);
        // A file that cannot be read is a failure of the step, which the played agent reports.
        const isPlayed = found.then(
          ({ answer }) => answer !== undefined,
          () => true,
        );
        const { outcome, stop } = after(isPlayed, (is) =>
          is ? played.start(step, live) : real[how](step, live, ask),
        );
        return { outcome, stop };
      };
    const close = async () => real?.close();
    return { name: 'rehearsal', start: begin('start'), adopt: begin('adopt'), close };
  };

  return {
    prompt: rehearsing(),
    script: rehearsing(script),
    remember(event, folded) {
      if (event.type === 'check-called') called.set(event.agent, event.run);
      if (event.type !== 'step-started') return;
      const ref = folded.agents.get(event.agent)?.workflow ?? folded.workflow;
      const { state, agent, task } = event;
      const what = task === 'handover' || task === 'fill' ? task : undefined;
      const step = { workflow: ref, state, agent, what };
      const command = event.task === 'check' ? called.get(event.agent) : undefined;
      if (command !== undefined) {
        count(checkKey({ workflow: ref, command }), 1);
        return;
      }
      count(stateKey(step), 1);
      count(agentKey(step), 1);
    },
  };
}

interface Played {
  /** How often the agent has executed the state, or a check has run. */
  readonly execution: number;
  readonly answer: ScriptedAnswer | undefined;
}

/** Uses the answers in turn, so that a loop takes its way out, if it has one. */
function inTurn(answers: readonly string[], execution: number): string | undefined {
  return answers[(execution - 1) % answers.length];
}

function notPlayable({ state }: Step): ScriptedAnswer {
  const message = `${state} was not executed, and its text shows no tag that can be followed. Write its answer into rehearsal.yaml, or rehearse with --scripts.`;
  return { failure: { kind: 'script-failed', message }, costUsd: 0 };
}

function noWayOn({ state }: Step): ScriptedAnswer {
  const message = `${state} names no transition that can be followed, so its agent could not know how to continue. Name the tag in the prompt or in allowed_transitions, or write an answer into rehearsal.yaml.`;
  return { failure: { kind: 'no-transition', message }, costUsd: 0 };
}

function noFit({ state }: Step): ScriptedAnswer {
  const message = `Raymond found no value that fits the schema of ${state}. Write an answer into rehearsal.yaml.`;
  return { failure: { kind: 'no-transition', message }, costUsd: 0 };
}

/** Without --scripts no command runs, and a check is assumed to succeed. */
const PASSED: ScriptedAnswer = { text: '', exit: 0 };

type Counted = Pick<Step, 'workflow' | 'state' | 'agent'> & {
  readonly what?: string | undefined;
};
const checkKey = ({ workflow, command }: Pick<CheckStep, 'workflow' | 'command'>) =>
  JSON.stringify([workflow, 'check', command]);
const stateKey = ({ workflow, state, what }: Omit<Counted, 'agent'>) =>
  JSON.stringify([workflow, state, what]);
const agentKey = ({ agent, ...counted }: Counted) => JSON.stringify([stateKey(counted), agent]);

/** Converts an answer of a rehearsal file. */
export function asScripted(answer: Answer): ScriptedAnswer {
  if (typeof answer === 'string') return answer;
  const costUsd = answer.cost ?? 0;
  if ('failure' in answer) return { failure: writtenFailure(answer), costUsd };
  const { text, denied = [], tokens } = answer;
  return { text, costUsd, denied, ...(tokens !== undefined && { contextTokens: tokens }) };
}

/** Writes the answer to the file in which readers look for a step's output. */
function kept(step: Step, answer: ScriptedAnswer): ScriptedAnswer {
  if (typeof answer !== 'string' && 'failure' in answer) return answer;
  const text = typeof answer === 'string' ? answer : answer.text;
  const keep = (file: string, content: string) =>
    writeFileSync(join(step.folder, file), content, { mode: 0o600 });
  mkdirSync(step.folder, { recursive: true, mode: 0o700 });
  if (step.kind === 'prompt') {
    keep(STEP_FILES.prompt.name, step.prompt);
    keep(STEP_FILES.answer.name, text);
  }
  keep(
    STEP_FILES.stdout.name,
    step.kind === 'prompt' ? `${JSON.stringify({ rehearsed: text })}\n` : text,
  );
  return answer;
}
