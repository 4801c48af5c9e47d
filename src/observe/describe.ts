/** Describes events for users: at most one line per event. */

import { SpanReader } from '../history/spans.ts';
import type { RunChoiceRules } from '../model/agent.ts';
import { laneName } from '../model/agent.ts';
import { counted } from '../model/counted.ts';
import { isEstimate } from '../model/estimate.ts';
import type { JoinEnd, RunEvent, RunEventOf, StepEndEvent } from '../model/event.ts';
import { limitText, reasonText, takerText } from '../model/limits.ts';
import { refusedText, remedyFor } from '../model/rights-text.ts';
import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import { waitsForPerson } from '../model/tally.ts';
import { unreachable } from '../model/unreachable.ts';
import { changedFiles } from '../model/workflow-files.ts';
import type { Tone } from './screen.ts';
import {
  approvalText,
  callText,
  duration,
  grantText,
  oneLine,
  rulesText,
  shortRequest,
  squeezed,
  time,
  usd,
  withFiles,
} from './words.ts';

export interface Line {
  readonly at: number;
  /** The agent, or `run` for the whole run. */
  readonly who: string;
  readonly tone: Exclude<Tone, 'accent' | 'strong'>;
  readonly text: string;
  /** The text is from the agent. */
  readonly isQuote?: true;
}

/** The choices for an agent that a user must notice. */
export type AlarmsOf = RunChoiceRules['alarmsOf'];

/** Of a step with its checks and judges. */
interface Price {
  readonly durationMs: number;
  readonly usd: number;
  readonly isEstimate: boolean;
  readonly isTurn: boolean;
}

/** Remembers facts about the newest step of each agent, for the line about its transition. */
export class Describer {
  readonly #alarmsOf: AlarmsOf;
  readonly #hasHints: boolean;
  readonly #steps = new Map<string, Price>();
  readonly #spans = new SpanReader();
  /** How long the newest step of each agent has worked, in ms. */
  readonly #worked = new Map<string, number>();

  /** `hasHints`: a question has the command that answers it. */
  constructor(alarmsOf: AlarmsOf, hasHints = true) {
    this.#alarmsOf = alarmsOf;
    this.#hasHints = hasHints;
  }

  describe(event: RunEvent, before: Run | undefined, after: Run): Line | undefined {
    if (event.type === 'step-started') this.#worked.delete(event.agent);
    for (const { kind, agent, from, to } of this.#spans.follow(event, after, before))
      if (kind === 'work') this.#worked.set(agent, (this.#worked.get(agent) ?? 0) + to - from);
    const said = this.#say(event, before, after);
    if (!said) return undefined;
    const [text, tone = 'plain'] = said;
    const who = 'agent' in event ? event.agent : 'run';
    return { at: event.at, who, tone, text: squeezed(text) };
  }

  #say(event: RunEvent, before: Run | undefined, after: Run): Said | undefined {
    switch (event.type) {
      case 'run-started':
        return [
          `${event.run} starts: ${event.workflow} at ${event.state}${originOf(event)}${limits(after, this.#alarmsOf, event.bound)}`,
        ];
      case 'run-resumed':
        return [`${after.id} continues${limits(after, this.#alarmsOf)}`];
      case 'workflow-read': {
        const read = before?.workflowFiles.get(event.workflow);
        if (!read) return undefined;
        const files = changedFiles(read, event.files).map((name) => oneLine(name));
        return [
          `continues with changed files of ${event.workflow}: ${files.join(', ')}`,
          'warning',
        ];
      }
      case 'step-started':
        // A script is short, and the line of its transition is enough. A turn may take an hour.
        return [
          `${event.state} ${startVerb(event)}${event.lane ? ` by ${takerText(laneName(event.lane), event.lane.passed)}` : ''}`,
          event.session ? 'faint' : 'detail',
        ];
      case 'step-taken':
        return [`${stateOf(after, event.agent)} begins on ${oneLine(event.worker)}`, 'detail'];
      case 'step-ended':
        this.#remember(event, before);
        return warning(
          ...(event.denied.length > 0
            ? [
                `${stateOf(before, event.agent)} was denied: ${event.denied.map((call) => oneLine(call)).join(', ')}`,
              ]
            : []),
          ...refusals(event, before),
          ...(event.worktree?.missing && event.denied.length === 0 ? [GONE_WORKTREE] : []),
        );
      case 'step-failed':
        this.#remember(event, before);
        return warning(...refusals(event, before));
      case 'step-interrupted':
        this.#remember(event, before);
        return warning(
          `${stateOf(before, event.agent)} was interrupted${this.#price(event.agent)}${lostRequests(before, event.agent)}`,
          ...refusals(event, before),
        );
      case 'agent-moved':
        return [
          `${this.#arrow(event.agent, before, `${event.tag} ${event.state}`)}${resultOf(event)}`,
        ];
      case 'agent-forked':
        return [
          `forked by ${event.parent} at ${event.state}${variables(event.variables)}${withheldOf(event)}${worktreeOf(event)}`,
        ];
      case 'agent-asked':
        return [
          `${this.#arrow(event.agent, before, 'ask')}${this.#hasHints ? answerHint(event, after) : ''}: ${oneLine(event.question)}${withFiles(event.files)}`,
          'warning',
        ];
      case 'answer-signed':
        return [
          `got a signature of ${oneLine(event.by, 40)}${signedText(after, event.agent)}: ${oneLine(event.text)}`,
        ];
      case 'agent-answered':
        return [`was answered${byText(event.by)}: ${oneLine(event.text)}${withFiles(event.files)}`];
      case 'question-timed-out':
        return [`got no answer in time, goes to ${stateOf(after, event.agent)}`, 'warning'];
      case 'words-said':
        return [
          `is told${byText(event.by)}${event.step === undefined ? ', before its next prompt' : ''}: ${oneLine(event.text)}`,
        ];
      case 'words-heard':
        return [`${stateOf(after, event.agent)} has heard it`, 'faint'];
      case 'permission-asked':
        return [
          `${askedText(event)}${this.#hasHints ? decisionHint(event, after) : ''}`,
          'warning',
        ];
      case 'permission-answered':
        return [answeredText(event, before), event.decision === 'deny' ? 'warning' : 'plain'];
      case 'permission-withdrawn':
        return [`no longer asks permission for ${callOf(event, before)}`];
      case 'agent-reminded':
        return [
          `${this.#arrow(event.agent, before, `reminder ${event.number}`)}: ${oneLine(event.failure.message)}`,
          'warning',
        ];
      case 'check-called':
        // A check and a judge belong to the step, so the line of its transition has the price of all.
        return [`${stateOf(before, event.agent)} -> check ${oneLine(event.run)}`, 'faint'];
      case 'judge-called':
        return [`${stateOf(before, event.agent)} -> evaluator`, 'faint'];
      case 'handover-called':
        return [
          `${this.#arrow(event.agent, before, 'handover')} for ${event.state}${event.tokens === undefined ? '' : `, because its session has ${event.tokens} tokens`}`,
        ];
      case 'prompt-filled':
        return [
          `${stateOf(before, event.agent)} was filled${this.#price(event.agent)}: ${oneLine(Object.keys(event.values).join(', '))}`,
        ];
      case 'transition-overridden':
        return [
          `${overrider(event)} overrides ${event.written.map((t) => t.name).join(', ')} with ${event.taken.name}`,
          'warning',
        ];
      case 'join-started':
        return [this.#arrow(event.agent, before, `join ${childrenOf(event)}`)];
      case 'join-closed':
        return ['stops its other child agents', 'faint'];
      case 'join-reported':
        return [
          `joined ${childrenOf(event)}${JOIN_ENDS[event.why]}, goes to ${event.state}${standing(event)}`,
          event.why === 'reached' ? 'plain' : 'warning',
        ];
      case 'agent-stop-requested':
        return undefined;
      case 'agent-stopped':
        return [
          `${this.#arrow(event.agent, before, 'stopped')} by the join of ${event.by}`,
          'warning',
        ];
      case 'agent-waits':
        return [
          `${this.#arrow(event.agent, before, 'retry')} at ${time(event.until, event.at)}: ${failureOf(after, event.agent)}`,
          'warning',
        ];
      case 'state-entered':
      case 'files-recorded':
      case 'agent-woke':
        return undefined;
      case 'agent-failed':
        return [
          `${this.#arrow(event.agent, before, 'failed')}: ${oneLine(event.failure.message, LONGEST_FAILURE)}`,
          'bad',
        ];
      case 'agent-ended':
        return [
          `${this.#arrow(event.agent, before, 'result')}: ${oneLine(event.result)}${unheard(after, event.agent)}`,
          'good',
        ];
      case 'worktree-settled':
        if (after.endedAgents.get(event.agent)?.worktree?.look?.missing) return undefined;
        if (event.kept === undefined) return ['its worktree has no work and was removed', 'detail'];
        return [`its worktree stays: ${oneLine(event.kept)}`, 'warning'];
      case 'usage-limited':
        if (event.next !== undefined)
          return [
            `${reasonText(event.why ?? 'usage-limit', event.executor)}: ${event.next} takes new sessions until ${time(event.until, event.at)}`,
            'warning',
          ];
        return [
          `${limitText(event.executor)}: ${event.executor === undefined ? '' : 'its '}prompts wait until ${time(event.until, event.at)}`,
          'warning',
        ];
      case 'usage-limit-lifted':
        return [`the ${limitText(event.executor)} is over`];
      case 'stop-requested':
        return [stopText(event), 'warning'];
      case 'run-ended':
        return [
          `${after.id} ${endText(event.outcome, after)}`,
          event.outcome === 'completed' ? 'good' : 'bad',
        ];
      case 'run-rewound':
        return [rewindText(event), 'warning'];
      case 'files-restored':
        return ['the files are as they were then', 'faint'];
      default:
        return unreachable(event);
    }
  }

  #remember(event: StepEndEvent, before: Run | undefined): void {
    const status = before?.agents.get(event.agent)?.status;
    if (status?.kind !== 'running') return;
    const earlier = this.#steps.get(event.agent);
    this.#steps.set(event.agent, {
      durationMs: (earlier?.durationMs ?? 0) + (this.#worked.get(event.agent) ?? 0),
      usd: (earlier?.usd ?? 0) + event.cost.usd,
      isEstimate: earlier?.isEstimate || isEstimate(event.cost),
      isTurn: earlier?.isTurn || !!status.session,
    });
  }

  /** `START.md -> goto REVIEW.md (1.2 s, $0.0300)` */
  #arrow(agent: string, before: Run | undefined, to: string): string {
    return `${stateOf(before, agent)} -> ${to}${this.#price(agent)}`;
  }

  #price(agent: string): string {
    const step = this.#steps.get(agent);
    if (!step) return '';
    this.#steps.delete(agent);
    const cost = step.isTurn ? `, ${usd(step.usd, step.isEstimate)}` : '';
    return ` (${duration(step.durationMs)}${cost})`;
  }
}

/** Nobody else will hear it, so the person has to know. */
function unheard({ endedAgents }: Run, agent: string): string {
  const said = (endedAgents.get(agent)?.words ?? []).map(({ text }) => `"${oneLine(text)}"`);
  return said.length > 0 ? ` [it ended before it heard ${said.join(', ')}]` : '';
}

/** The first words of a result that an agent gives to its own caller. */
function resultOf({ tag, input }: RunEventOf<'agent-moved'>): string {
  return tag === 'result' && input !== undefined ? `: ${oneLine(input)}` : '';
}

/** `goes back to the moment before main:3; abandoned: main:3-5 ($0.2000)` */
function rewindText(event: RunEventOf<'run-rewound'>): string {
  const { to, abandoned, gone, costUsd, isPriced } = event;
  const where = to ? `goes back to the moment before ${to.agent}:${to.step}` : 'undoes a rewind';
  const steps = abandoned.map(({ agent, first, last }) =>
    first === last ? `${agent}:${first}` : `${agent}:${first}-${last}`,
  );
  const left =
    steps.length > 0 ? `; abandoned: ${steps.join(', ')} (${usd(costUsd, isPriced)})` : '';
  const without = gone.length > 0 ? `; gone: ${gone.join(', ')}` : '';
  return `${where}${left}${without}`;
}

/** Long enough for the remedy at its end. */
const LONGEST_FAILURE = 500;

type Said = readonly [text: string, tone?: Line['tone']];

function stateOf(run: Run | undefined, agent: string): string {
  return run?.agents.get(agent)?.state ?? agent;
}

function failureOf(run: Run, agent: string): string {
  const status = run.agents.get(agent)?.status;
  return status?.kind === 'waiting' ? oneLine(status.failure.message) : '';
}

function originOf({ origin }: RunEventOf<'run-started'>): string {
  return origin ? `, a variant of ${origin.run} from before ${origin.agent}:${origin.step}` : '';
}

function limits(
  { settings }: Run,
  alarmsOf: AlarmsOf,
  bound?: RunEventOf<'run-started'>['bound'],
): string {
  const parts = [
    settings.budgetUsd > 0 ? `budget ${usd(settings.budgetUsd)}` : 'no budget limit',
    ...(settings.maxIterations > 0 ? [`at most ${counted(settings.maxIterations, 'step')}`] : []),
    ...(bound ? [boundPart(bound)] : []),
    ...alarmsOf(settings.agent),
  ];
  return ` (${parts.join(', ')})`;
}

function boundPart({ prompts, agents }: NonNullable<RunEventOf<'run-started'>['bound']>): string {
  if (prompts === undefined) return 'no limit to its prompts';
  return `at most ${counted(prompts, 'prompt')}${agents > 1 ? ` by ${counted(agents, 'agent')}` : ''}`;
}

/** Who replaces a transition. */
function overrider({ by }: Pick<RunEventOf<'transition-overridden'>, 'by'>): string {
  return by === 'ensures' ? 'a failed check' : `evaluator "${by}"`;
}

function startVerb({ task, attempt }: RunEventOf<'step-started'>): string {
  if (task === 'continuation') return `continues after an interruption (attempt ${attempt})`;
  if (task === 'judge') return 'judges';
  if (task === 'handover') return 'hands over';
  if (task === 'fill') return 'is filled';
  if (task === 'check') return attempt > 1 ? `checks (attempt ${attempt})` : 'checks';
  return attempt > 1 && task === 'state' ? `starts (attempt ${attempt})` : 'starts';
}

/** Names a few children, and counts many. */
function childrenOf({ workers }: RunEventOf<'join-started' | 'join-reported'>): string {
  const names = workers.map((child) => (typeof child === 'string' ? child : child.agent));
  return names.length > 5 ? `${names.length} child agents` : names.join(', ') || 'no child agent';
}

const JOIN_ENDS: Readonly<Record<JoinEnd, string>> = {
  reached: '',
  failed: ' after a failure',
  timeout: ' at its deadline',
};

function standing({ workers }: RunEventOf<'join-reported'>): string {
  const counts = new Map<string, number>();
  for (const { status } of workers) counts.set(status, (counts.get(status) ?? 0) + 1);
  const parts = [...counts].map(([status, count]) => `${count} ${status}`);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

function warning(...texts: readonly string[]): Said | undefined {
  return texts.length === 0 ? undefined : [texts.join('; '), 'warning'];
}

/** What the sandbox refused to the step, with the lines that would allow it. */
function refusals({ agent, refused = [] }: StepEndEvent, before: Run | undefined): string[] {
  if (refused.length === 0) return [];
  const status = before?.agents.get(agent)?.status;
  const state = status?.kind === 'running' ? status.state : stateOf(before, agent);
  return [`the sandbox refused: ${oneLine(refusedText(refused))}. ${remedyFor(refused, state)}`];
}

const GONE_WORKTREE = 'its worktree no longer exists: what was not committed there is lost';

function worktreeOf({ worktree }: RunEventOf<'agent-forked'>): string {
  if (!worktree) return '';
  const { branch, tree } = worktree;
  return tree ? `, worktree on ${branch}` : `, worktree not created (${branch})`;
}

function withheldOf({ withheld = [] }: RunEventOf<'agent-forked'>): string {
  return withheld.length > 0 ? `, not in the environment: ${withheld.join(', ')}` : '';
}

function variables(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(([name, value]) => `${name}=${oneLine(value)}`);
  return pairs.length > 0 ? ` (${pairs.join(', ')})` : '';
}

function answerHint(
  { at, agent, deadline, approval }: RunEventOf<'agent-asked'>,
  { id, tally }: Run,
): string {
  const sign = approval ? ' --sign KEY' : '';
  const who = approval ? `, ${approvalText(approval)}` : '';
  const which = waitsForPerson(tally) > 1 ? ` --agent ${shellWord(agent)}` : '';
  const until = deadline === undefined ? '' : `, until ${time(deadline, at)}`;
  return ` [raymond answer ${shellWord(id)}${which} "..."${sign}${who}${until}]`;
}

/** The requests that can no longer be decided. */
function lostRequests(before: Run | undefined, agent: string): string {
  const status = before?.agents.get(agent)?.status;
  const lost = status?.kind === 'running' ? status.requests.length : 0;
  return lost > 0 ? `, and ${counted(lost, 'permission request')} lost` : '';
}

function signedText({ agents }: Run, id: string): string {
  const status = agents.get(id)?.status;
  if (status?.kind !== 'asking' || !status.approval) return '';
  return ` (${status.signed?.length ?? 0} of ${status.approval.of})`;
}

const byText = (by: string | undefined) => (by === undefined ? '' : ` by ${oneLine(by, 40)}`);

function askedText(event: RunEventOf<'permission-asked'>): string {
  if (event.isQuestion) return `asks: ${oneLine(event.input)}`;
  return `asks permission for ${callText(event)}${grantText(event)}`;
}

function decisionHint(
  { agent, request, rules, isQuestion }: RunEventOf<'permission-asked'>,
  run: Run,
) {
  const { id, tally } = run;
  const status = run.agents.get(agent)?.status;
  const hasSeveral = status?.kind === 'running' && status.requests.length > 1;
  const which = hasSeveral
    ? ` --request ${shellWord(shortRequest(request))}`
    : waitsForPerson(tally) > 1
      ? ` --agent ${shellWord(agent)}`
      : '';
  const words = isQuestion ? '"..."' : rules ? 'allow|allow-run|deny' : 'allow|deny';
  return ` [raymond answer ${shellWord(id)}${which} ${words}]`;
}

function answeredText(event: RunEventOf<'permission-answered'>, before: Run | undefined): string {
  const { decision, text, rules = [], rule, by } = event;
  if (rule !== undefined) return `was allowed by a rule of the run: ${oneLine(rule)}`;
  const who = byText(by);
  switch (decision) {
    case 'allow':
      return `was allowed${who}: ${callOf(event, before)}`;
    case 'allow-run':
      return `was allowed for the run${who}: ${rulesText(rules)}`;
    case 'answer':
      return `was answered${who}: ${oneLine(text ?? '')}`;
    case 'deny':
      return `was denied${who}: ${callOf(event, before)}${text ? ` (${oneLine(text)})` : ''}`;
    default:
      return unreachable(decision);
  }
}

/** The call of a request that was open before the event. */
function callOf(
  { agent, request }: { readonly agent: string; readonly request: string },
  before: Run | undefined,
): string {
  const status = before?.agents.get(agent)?.status;
  const open =
    status?.kind === 'running' ? status.requests.find((one) => one.request === request) : undefined;
  return open ? callText(open) : 'a tool call';
}

function stopText({ how, why }: RunEventOf<'stop-requested'>): string {
  const reasons = {
    person: 'stop requested',
    failure: 'an agent failed, and --fail-fast stops the others',
    budget: 'the budget is spent',
    iterations: 'the step limit is reached',
    'usage-limit': 'usage limit, and --no-wait pauses the run',
    shutdown: 'the system ends the process of the run',
  };
  if (how === 'now') return `${reasons[why]}: running steps are stopped`;
  const hurry = why === 'person' ? ' (Ctrl-C again stops them)' : '';
  return `${reasons[why]}: no new step starts, running ones may finish${hurry}`;
}

function endText(outcome: RunEventOf<'run-ended'>['outcome'], run: Run): string {
  const totals = `(${counted(run.steps, 'step')}, ${duration(run.workedMs)}, ${usd(run.totalCostUsd, run.isPriced)})${handledEnds(run)}`;
  const resume = `raymond resume ${shellWord(run.id)}`;
  switch (outcome) {
    case 'completed':
      return `completed ${totals}`;
    case 'failed':
      return `failed ${totals}. Fix the cause, then run: ${resume}`;
    case 'waiting':
      return `waits for a person ${totals}. Answer, then run: ${resume}`;
    case 'paused':
      return `paused ${totals}. After the usage limit, run: ${resume}`;
    case 'interrupted':
      return `interrupted ${totals}. To continue: ${resume}`;
    case 'stopped: budget':
      return `stopped: budget ${totals}. To continue: ${resume} --budget ${furtherBudget(run)}`;
    case 'stopped: shutdown':
      return `stopped: shutdown ${totals}. raymond up continues it. To continue it now: ${resume}`;
    case 'stopped: iterations':
      return `stopped: iterations ${totals}. To continue: ${resume} --max-iterations ${run.settings.maxIterations * 2}`;
    default:
      return unreachable(outcome);
  }
}

/** `, joins reported 1 failed child agent and 2 stopped child agents` */
function handledEnds({ endedAgents }: Run): string {
  const counts = { ended: 0, failed: 0, stopped: 0, rewound: 0 };
  for (const [, { end }] of endedAgents) counts[end.kind]++;
  const parts = (['failed', 'stopped'] as const).flatMap((kind) =>
    counts[kind] > 0 ? [counted(counts[kind], `${kind} child agent`)] : [],
  );
  return parts.length > 0 ? `, joins reported ${parts.join(' and ')}` : '';
}

/**
 * The same amount on top of what was spent, because the last turn may have cost far more than was
 * left.
 */
function furtherBudget({ settings: { budgetUsd }, totalCostUsd }: Run): number {
  return Math.ceil(Math.max(budgetUsd, totalCostUsd) + budgetUsd);
}
