/** One step by the rules of the real language, taken by an agent at a given state. */

import { apply } from '../interpret/apply.ts';
import { worktreeKey } from '../interpret/fork-worktree.ts';
import { interpret } from '../interpret/interpret.ts';
import { FIRST_AGENT, newRun } from '../interpret/new-run.ts';
import { playedSignatures } from '../model/approval.ts';
import { type Frame, JOURNAL_VERSION, type RunEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import type { Failure } from '../model/failure.ts';
import type { Facts, Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { type StateName, stateNameSchema } from '../model/state-name.ts';
import { NO_COST } from '../model/step-account.ts';
import type { Tag } from '../model/tag.ts';
import type { Workflow } from '../model/workflow.ts';
import type { Choice } from './choices.ts';

export interface AgentPosition {
  readonly state: StateName;
  /** Whether a caller waits for its result. Which caller it is does not affect the step. */
  readonly isCalled: boolean;
}

export type Effect =
  | { readonly kind: 'enter'; readonly state: StateName }
  | { readonly kind: 'call'; readonly state: StateName; readonly returns: StateName }
  | { readonly kind: 'child'; readonly state: StateName }
  /** Returns to the caller, or ends the agent. */
  | { readonly kind: 'result' }
  /** Enters another workflow, and returns to a state of this one. */
  | { readonly kind: 'detour'; readonly returns: StateName }
  /** Enters another workflow and never returns. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'failure'; readonly failure: Failure };

export function takeChoice(
  workflow: Workflow,
  position: AgentPosition,
  { tags = [] }: Choice,
): readonly Effect[] {
  const workflows = (ref: string) => (ref === ELSEWHERE ? undefined : workflow);
  const play = (run: Run, input: Input) => interpret(workflows, run, input);
  const before = runAt(workflow, position);
  const begun = play(before, {
    kind: 'start-step',
    at: 0,
    agent: FIRST_AGENT,
    newSession: 's',
    executors: { prompt: 'exploration', script: 'exploration' },
  });
  const running = begun.reduce(apply, before);
  const ended = play(running, {
    kind: 'step-ended',
    at: 1,
    agent: FIRST_AGENT,
    step: 1,
    outcome: {
      kind: 'answered',
      reading: { tags, bad: [] },
      text: '',
      account: { cost: NO_COST },
      denied: [],
      facts: factsFor(tags),
    },
  });
  const asked = ended.some(({ type }) => type === 'agent-asked');
  const waiting = ended.reduce(apply, running);
  const answers = asked ? afterQuestion(waiting, play) : [];
  return [...begun, ...ended, ...answers].flatMap((event) => effectsOf(event, workflow, waiting));
}

/** Stands for every possible caller. It is not a state, so that no state's limit applies to it. */
const CALLER = stateNameSchema.parse('(the caller)');

function runAt(workflow: Workflow, { state, isCalled }: AgentPosition): Run {
  const run = apply(newRun, {
    type: 'run-started',
    version: JOURNAL_VERSION,
    at: 0,
    run: 'exploration',
    workflow: workflow.ref,
    state,
    cwd: '.',
    settings: { ...newRun.settings, budgetUsd: 0 },
    metadata: {},
  });
  const agent = run.agents.get(FIRST_AGENT);
  if (!agent) throw new Error('Bug: a run without its first agent');
  const frame: Frame = {
    state: CALLER,
    workflow: workflow.ref,
    session: { kind: 'none' },
    cwd: '.',
  };
  // The walk counts the visits, not the step.
  const positioned = { ...agent, stack: isCalled ? [frame] : [], visits: {} };
  return { ...run, agents: run.agents.set(FIRST_AGENT, positioned) };
}

/** Assumes that every directory and every workflow exists. */
function factsFor(tags: readonly Tag[]): Facts {
  const directories = tags.flatMap(({ attributes: { cd } }) => cd ?? []);
  const paths = tags.map(({ body }) => body.trim());
  return {
    directories: new Map(directories.map((cd) => [cd, { found: true, path: cd, inProject: true }])),
    workflows: new Map(paths.map((path) => [path, ANOTHER])),
    worktrees: new Map(tags.map(({ attributes }) => [worktreeKey(attributes), NO_TREE])),
    environment: new Set(),
  };
}

/** An exploration makes no worktrees. */
const NO_TREE = { found: true, tree: undefined } as const;
const ELSEWHERE = '(another workflow)';
const ANOTHER = {
  found: true,
  ref: ELSEWHERE,
  entry: CALLER,
  inProject: true,
  unchanged: true,
} as const;

/** A person answers the question. If it has a deadline, the deadline also passes without an answer. */
function afterQuestion(
  run: Run,
  play: (run: Run, input: Input) => readonly RunEvent[],
): readonly RunEvent[] {
  const at = Number.MAX_SAFE_INTEGER;
  const status = run.agents.get(FIRST_AGENT)?.status;
  const signatures = playedSignatures(status?.kind === 'asking' ? status.approval : undefined);
  const answer = { at, agent: FIRST_AGENT, askedAt: 1, text: '', signatures };
  return [
    ...play(run, { kind: 'person-answered', ...answer }),
    ...play(run, { kind: 'time-came', at, agent: FIRST_AGENT }),
  ];
}

function effectsOf(event: RunEvent, workflow: Workflow, run: Run): readonly Effect[] {
  switch (event.type) {
    case 'agent-moved':
      return moved(event, workflow);
    // What it hands over does not change where it goes.
    case 'handover-called':
      return [{ kind: 'enter', state: event.state }];
    case 'agent-forked':
      return event.workflow === workflow.ref ? [{ kind: 'child', state: event.state }] : [];
    case 'agent-answered':
    case 'question-timed-out': {
      const status = run.agents.get(FIRST_AGENT)?.status;
      if (status?.kind !== 'asking') return [];
      const { next, timeoutNext } = status;
      const late = event.type === 'question-timed-out';
      return [{ kind: 'enter', state: late ? (timeoutNext ?? next) : next }];
    }
    // Its children may succeed or fail, and may be late.
    case 'join-started':
      return [event.next, event.failedNext, event.timeoutNext].flatMap((state) =>
        state === undefined ? [] : [{ kind: 'enter', state } as const],
      );
    case 'agent-ended':
      return [{ kind: 'result' }];
    case 'agent-reminded':
    case 'agent-failed':
      return [{ kind: 'failure', failure: event.failure }];
    default:
      return ignore<'answer-signed' | 'words-said' | 'words-heard' | 'prompt-filled'>(event) ?? [];
  }
}

function moved(
  { state, stack, workflow: ref }: Extract<RunEvent, { type: 'agent-moved' }>,
  workflow: Workflow,
): readonly Effect[] {
  if (stack.kind === 'pop') return [{ kind: 'result' }];
  if (ref !== workflow.ref) {
    return [
      stack.kind === 'push' ? { kind: 'detour', returns: stack.frame.state } : { kind: 'leave' },
    ];
  }
  if (stack.kind === 'push') return [{ kind: 'call', state, returns: stack.frame.state }];
  return [{ kind: 'enter', state }];
}
