/**
 * INV-4: `interpret` is pure and total. An input that no longer applies gives no events.
 *
 * Decides what an input means for a run, as events. An answer applies only while its question is
 * open. The end of a step applies only to the current step.
 */
import { type Approval, agreed, hasSigned, type Signature } from '../model/approval.ts';
import type { RunEvent, RunOutcome, StopReason } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import { type KeptFile, safeNames } from '../model/kept-file.ts';
import { lastLimit, overAt } from '../model/limits.ts';
import type { Agent, AskingStatus, Run } from '../model/run.ts';
import { atWork, waitsForPerson } from '../model/tally.ts';
import { unreachable } from '../model/unreachable.ts';
import { stepEnded } from './decide.ts';
import { failAgent } from './fail-agent.ts';
import { entryProblem, type Workflows } from './follow.ts';
import { isJoining, joinTimedOut, withJoins } from './joins.ts';
import { permissionDecided, permissionRequested, permissionWithdrawn } from './permissions.ts';
import { readWorkflow, withReadWorkflows } from './read-workflows.ts';
import { remainingUsd, startStep } from './start-step.ts';
import { personSaid, wordsHeard } from './words.ts';

export function interpret(workflows: Workflows, run: Run, input: Input): readonly RunEvent[] {
  const decided = decide(workflows, run, input);
  return withReadWorkflows(workflows, run, withJoins(workflows, run, decided));
}

function decide(workflows: Workflows, run: Run, input: Input): readonly RunEvent[] {
  switch (input.kind) {
    case 'start-step':
      return startStep(workflows, run, input);
    case 'step-taken': {
      const { at, agent, step, worker } = input;
      const status = run.agents.get(agent)?.status;
      if (status?.kind !== 'running' || status.step !== step || !status.isQueued) return [];
      return [{ type: 'step-taken', at, agent, step, worker }];
    }
    case 'step-ended':
      return stepEnded(workflows, run, input);
    case 'person-answered': {
      const asking = askingAgent(run, input.agent);
      if (asking?.status.askedAt !== input.askedAt) return [];
      return answer(workflows, run, asking, input);
    }
    case 'permission-requested':
      return permissionRequested(run, input, input.request);
    case 'permission-withdrawn':
      return permissionWithdrawn(run, input, input.request);
    case 'permission-decided':
      return permissionDecided(run, input);
    case 'person-said':
      return personSaid(workflows, run, input);
    case 'words-heard':
      return wordsHeard(run, input);
    case 'time-came':
      return timeCame(workflows, run, input.agent, input.at);
    case 'usage-limit-over':
      return overAt(run.limits, input.at).map((executor) => ({
        type: 'usage-limit-lifted',
        at: input.at,
        ...(executor !== undefined && { executor }),
      }));
    case 'stop':
      return stop(run, input);
    case 'resume':
      return resume(workflows, run, input);
    case 'state-entered': {
      const { at, agent, step, digest } = input;
      if (!isRunning(run, agent, step)) return [];
      return [{ type: 'state-entered', at, agent, step, digest }];
    }
    case 'files-recorded': {
      const { at, agent, step, tree } = input;
      if (!isRunning(run, agent, step)) return [];
      return [{ type: 'files-recorded', at, agent, step, tree }];
    }
    case 'worktree-settled': {
      const { at, agent, kept } = input;
      if (run.endedAgents.get(agent)?.worktree?.fate !== 'removing') return [];
      return [{ type: 'worktree-settled', at, agent, ...(kept !== undefined && { kept }) }];
    }
    case 'idle':
      return conclude(run, input);
    default:
      return unreachable(input);
  }
}

function isRunning(run: Run, agent: string, step: number): boolean {
  const status = run.agents.get(agent)?.status;
  return status?.kind === 'running' && status.step === step;
}

type AskingAgent = Agent & { readonly status: AskingStatus };

function askingAgent(run: Run, id: string): AskingAgent | undefined {
  const agent = run.agents.get(id);
  return agent && isAsking(agent) ? agent : undefined;
}

const isAsking = (agent: Agent): agent is AskingAgent => agent.status.kind === 'asking';

function answer(
  workflows: Workflows,
  run: Run,
  agent: AskingAgent,
  given: Pick<PersonAnswered, 'text' | 'at' | 'by' | 'signatures' | 'files'>,
): readonly RunEvent[] {
  const { text, at, by, signatures, files = [] } = given;
  if (agent.status.approval)
    return sign(workflows, run, agent, agent.status.approval, text, at, signatures ?? []);
  return answered(workflows, run, agent, text, at, by, files);
}

type PersonAnswered = Extract<Input, { kind: 'person-answered' }>;

/** Only signatures answer such a question. A person who has signed cannot sign again. */
function sign(
  workflows: Workflows,
  run: Run,
  agent: AskingAgent,
  approval: Approval,
  text: string,
  at: number,
  signatures: readonly Signature[],
): readonly RunEvent[] {
  const events: RunEvent[] = [];
  let signed = agent.status.signed ?? [];
  for (const signature of signatures) {
    if (hasSigned(signed, signature)) continue;
    const { by, key } = signature;
    signed = [...signed, { by, key, text }];
    events.push({ type: 'answer-signed', at, agent: agent.id, text, ...signature });
  }
  const names = events.length > 0 ? agreed(approval, signed, text) : undefined;
  if (!names) return events;
  return [...events, ...answered(workflows, run, agent, text, at, names.join(', '))];
}

function answered(
  workflows: Workflows,
  run: Run,
  agent: AskingAgent,
  text: string,
  at: number,
  by: string | undefined,
  files: readonly KeptFile[] = [],
): readonly RunEvent[] {
  const problem = entryProblem(workflows, agent, agent.workflow, agent.status.next);
  if (problem) return failAgent(run, agent.id, problem, at);
  const names = safeNames(files.map(({ name }) => name));
  const kept = files.map((file, index) => ({ ...file, name: names[index] ?? file.name }));
  return [
    {
      type: 'agent-answered',
      at,
      agent: agent.id,
      text,
      ...(by !== undefined && { by }),
      ...(kept.length > 0 && { files: kept }),
    },
  ];
}

function timeCame(workflows: Workflows, run: Run, id: string, at: number): readonly RunEvent[] {
  const agent = run.agents.get(id);
  if (agent?.status.kind === 'waiting' && agent.status.until <= at) {
    return [{ type: 'agent-woke', at, agent: id }];
  }
  if (isJoining(agent)) {
    const { deadline } = agent.status.join;
    const isLate = deadline !== undefined && deadline <= at;
    return isLate ? joinTimedOut(workflows, run, agent, at) : [];
  }
  if (agent?.status.kind !== 'asking') return [];
  const { deadline, timeoutNext, next } = agent.status;
  if (deadline === undefined || deadline > at) return [];
  const problem = entryProblem(workflows, agent, agent.workflow, timeoutNext ?? next);
  if (problem) return failAgent(run, id, problem, at);
  return [{ type: 'question-timed-out', at, agent: id }];
}

/** A second request can only make a stop more urgent, or make it that of a person. */
function stop(
  run: Run,
  { at, how, why = 'person' }: Extract<Input, { kind: 'stop' }>,
): readonly RunEvent[] {
  const { status } = run;
  if (status.kind === 'ended') return [];
  if (status.kind !== 'stopping') return [{ type: 'stop-requested', at, how, why }];
  const isPersons = status.why === 'shutdown' && why === 'person';
  if (!isPersons && (status.how === 'now' || how === 'drain')) return [];
  const urgent = status.how === 'now' ? 'now' : how;
  return [{ type: 'stop-requested', at, how: urgent, why: isPersons ? why : status.why }];
}

/** The value of a resume answers the one open question, or else goes to the failed agents. */
function resume(
  workflows: Workflows,
  run: Run,
  { at, settings, input, accepted = [], fresh }: Extract<Input, { kind: 'resume' }>,
): readonly RunEvent[] {
  const resumed: RunEvent = { type: 'run-resumed', at, settings, ...(fresh && { fresh }) };
  const reads = accepted.flatMap((workflow) => readWorkflow(workflows, workflow, at));
  const asking = [...run.agents]
    .map(([, agent]) => agent)
    .filter(isAsking)
    .filter(({ status }) => !status.approval);
  const [only, ...others] = asking;
  if (input !== undefined && only && others.length === 0) {
    return [resumed, ...reads, ...answer(workflows, run, only, { text: input, at })];
  }
  return [{ ...resumed, ...(input !== undefined && { input }) }, ...reads];
}

/**
 * Ends a run in which no step works and none can start. A step that waits for a permission does not
 * work. A stop also ends such a step, because nothing else would.
 */
function conclude(
  run: Run,
  { at, attended, patient }: Extract<Input, { kind: 'idle' }>,
): readonly RunEvent[] {
  const { status, tally, settings, removals } = run;
  if (status.kind === 'ended' || removals > 0) return [];
  // A step that waits in a queue must not begin when the money is gone.
  if (status.kind === 'active' && tally.queued > 0 && (remainingUsd(run) ?? 1) <= 0)
    return [{ type: 'stop-requested', at, how: 'drain', why: 'budget' }];
  if (atWork(tally) > 0) return [];
  const canMove = tally.waiting > 0 || canStart(run);
  const ended = (outcome: RunOutcome): readonly RunEvent[] => [{ type: 'run-ended', at, outcome }];
  if (status.kind === 'stopping') {
    if (tally.asksPermission > 0)
      return status.how === 'now'
        ? []
        : [{ type: 'stop-requested', at, how: 'now', why: status.why }];
    const isUnfinished = canMove || tally.asking + tally.joining > 0;
    return ended(isUnfinished ? STOPPED[status.why] : outcomeOf(run));
  }
  if (canMove) return isPausedByLimit(run, at) ? ended('paused') : [];
  const mayBeAnswered = attended && waitsForPerson(tally) > 0;
  const hasDeadline = patient && settings.wait && tally.deadlines > 0;
  return mayBeAnswered || hasDeadline ? [] : ended(outcomeOf(run));
}

/**
 * Whether a ready agent will start later without further input. If steps that wait for a permission use
 * the budget, no agent starts before a person has decided.
 */
function canStart({ tally, limits }: Run): boolean {
  return tally.ready > 0 && (lastLimit(limits) !== undefined || tally.asksPermission === 0);
}

/** With `--no-wait`, on a resume before the limit is over. A pause before a retry is short. */
function isPausedByLimit({ settings, limits, tally }: Run, at: number): boolean {
  return !settings.wait && tally.waiting === 0 && at < (lastLimit(limits) ?? 0);
}

function outcomeOf({ tally }: Run): RunOutcome {
  if (waitsForPerson(tally) > 0) return 'waiting';
  return tally.failed > 0 ? 'failed' : 'completed';
}

const STOPPED: Readonly<Record<StopReason, RunOutcome>> = {
  person: 'interrupted',
  failure: 'failed',
  budget: 'stopped: budget',
  iterations: 'stopped: iterations',
  shutdown: 'stopped: shutdown',
  'usage-limit': 'paused',
};
