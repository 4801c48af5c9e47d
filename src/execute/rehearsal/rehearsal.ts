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
} from '../../parse/rehearsal-file.ts';
import type { CheckStep, Executor, Step } from '../../ports.ts';
import { possibleAnswers } from './possible-answers.ts';
import { type ScriptedAnswer, scriptedAgent, toFailure } from './scripted.ts';

export interface RehearsalParts {
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
  const written = new WeakMap<Step, ScriptedAnswer>();
  const count = (key: string, more: number) => {
    const counted = (executions.get(key) ?? 0) + more;
    executions.set(key, counted);
    return counted;
  };
  /** An adopted step was already counted when it was started. */
  const writtenFor = async (step: Step, more: 0 | 1) => {
    const number = Math.max(1, count(stateKey(step), more));
    const ofAgent = Math.max(1, count(agentKey(step), more));
    const written = (await rehearsalOf(step.workflow)) ?? {};
    const { state, agent } = step;
    return { ofAgent, answer: answerFor(written, { state, agent, number, ofAgent }) };
  };
  const answerPrompt = async (step: Step, more: 0 | 1): Promise<ScriptedAnswer> => {
    const { ofAgent, answer } = await writtenFor(step, more);
    if (answer !== undefined) return kept(step, asScripted(answer));
    const source = workflow(step.workflow);
    const prompt = step.kind === 'prompt' ? step.prompt : '';
    const possible = source ? possibleAnswers(source, source.states.get(step.state), prompt) : [];
    const played = inTurn(possible, ofAgent);
    return played === undefined ? noWayOn(step) : kept(step, played);
  };
  /** The outcome that the file names; undefined if it names none. */
  const writtenCheck = async (step: CheckStep, more: 0 | 1) => {
    const execution = Math.max(1, count(checkKey(step), more));
    const { checks } = (await rehearsalOf(step.workflow)) ?? {};
    const found = checkFor(checks, step.command, execution);
    return found && { text: found.output ?? '', exit: found.exit };
  };
  const answerScript = async (step: Step, more: 0 | 1): Promise<ScriptedAnswer> => {
    if (step.kind === 'check') return kept(step, (await writtenCheck(step, more)) ?? PASSED);
    const { ofAgent, answer } = await writtenFor(step, more);
    if (answer !== undefined) return kept(step, asScripted(answer));
    const source = workflow(step.workflow);
    const state = source?.states.get(step.state);
    const possible = source && state?.kind === 'script' ? scriptAnswers(source, state) : [];
    const played = inTurn(possible, ofAgent);
    return played === undefined ? notPlayable(step) : kept(step, played);
  };

  return {
    prompt: rehearsing(answerPrompt),
    script: script
      ? eitherOf(
          script,
          scriptedAgent((step) => kept(step, written.get(step) ?? '')),
          async (step, more) => {
            const given = step.kind === 'check' ? undefined : (await writtenFor(step, more)).answer;
            const answer =
              step.kind === 'check'
                ? await writtenCheck(step, more)
                : given !== undefined && asScripted(given);
            if (!answer) return false;
            written.set(step, answer);
            return true;
          },
        )
      : rehearsing(answerScript),
    remember(event, after) {
      if (event.type === 'check-called') called.set(event.agent, event.run);
      if (event.type !== 'step-started') return;
      const ref = after.agents.get(event.agent)?.workflow ?? after.workflow;
      const step = { workflow: ref, state: event.state, agent: event.agent };
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

/** Without --scripts no command runs, and a check is assumed to succeed. */
const PASSED: ScriptedAnswer = { text: '', exit: 0 };

const NAME = 'rehearsal';

type Counted = Pick<Step, 'workflow' | 'state' | 'agent'>;
const checkKey = ({ workflow, command }: Pick<CheckStep, 'workflow' | 'command'>) =>
  JSON.stringify([workflow, 'check', command]);
const stateKey = ({ workflow, state }: Counted) => JSON.stringify([workflow, state]);
const agentKey = ({ workflow, state, agent }: Counted) => JSON.stringify([workflow, state, agent]);

function rehearsing(answer: (step: Step, more: 0 | 1) => Promise<ScriptedAnswer>): Executor {
  const starting = scriptedAgent((step) => answer(step, 1), NAME);
  const adopting = scriptedAgent((step) => answer(step, 0), NAME);
  return {
    ...starting,
    start(step, live, ask) {
      if (step.kind === 'prompt') live({ kind: 'prompt', text: step.prompt });
      return starting.start(step, live, ask);
    },
    adopt: adopting.start,
  };
}

/** Uses the second executor for the steps that `isForSecond` selects, and the first for all others. */
function eitherOf(
  first: Executor,
  second: Executor,
  isForSecond: (step: Step, more: 0 | 1) => Promise<boolean>,
): Executor {
  const begin =
    (how: 'start' | 'adopt'): Executor['start'] =>
    (step, live, ask) => {
      let isStopped = false;
      const running = isForSecond(step, how === 'start' ? 1 : 0).then((is) =>
        (is ? second : first)[how](step, live, ask),
      );
      const outcome = running.then(({ outcome, stop }) => {
        if (isStopped) stop();
        return outcome;
      }, toFailure);
      const stop = () => {
        isStopped = true;
        void running.then((step) => step.stop()).catch(() => {});
      };
      return { outcome, stop };
    };
  const close = async () => {
    await Promise.all([first.close(), second.close()]);
  };
  return { name: NAME, start: begin('start'), adopt: begin('adopt'), close };
}

/** Converts an answer of a rehearsal file. */
export function asScripted(answer: Answer): ScriptedAnswer {
  if (typeof answer === 'string') return answer;
  const costUsd = answer.cost ?? 0;
  if ('failure' in answer) return { failure: writtenFailure(answer), costUsd };
  return { text: answer.text, costUsd, denied: answer.denied ?? [] };
}

/** Writes the answer to the file in which readers look for a step's output. */
function kept(step: Step, answer: ScriptedAnswer): ScriptedAnswer {
  if (typeof answer !== 'string' && 'failure' in answer) return answer;
  const text = typeof answer === 'string' ? answer : answer.text;
  const keep = (file: string, content: string) =>
    writeFileSync(join(step.folder, file), content, { mode: 0o600 });
  mkdirSync(step.folder, { recursive: true, mode: 0o700 });
  if (step.kind === 'prompt') keep(STEP_FILES.answer.name, text);
  keep(
    STEP_FILES.stdout.name,
    step.kind === 'prompt' ? `${JSON.stringify({ rehearsed: text })}\n` : text,
  );
  return answer;
}
