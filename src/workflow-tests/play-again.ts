/**
 * Plays a finished run again on workflows as they are now. At each decision of the run, it decides once more,
 * from what the run had recorded until then, and compares. Nothing is executed, and no model is called.
 */
import { basename } from 'node:path';
import { apply } from '../interpret/apply.ts';
import { entryProblem, type Workflows } from '../interpret/follow.ts';
import { interpret } from '../interpret/interpret.ts';
import { FIRST_AGENT, newRun, visitKey } from '../interpret/new-run.ts';
import { wordsBefore } from '../interpret/words.ts';
import { entryInput } from '../interpret/workflow-defaults.ts';
import { attempt } from '../model/attempt.ts';
import type { JournaledEvent, RunEvent, RunEventOf } from '../model/event.ts';
import type { Located, WorkflowFact } from '../model/input.ts';
import type { Agent, Run } from '../model/run.ts';
import { withSpoken } from '../model/spoken.ts';
import type { Tag } from '../model/tag.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { changedFiles, type WorkflowFiles } from '../model/workflow-files.ts';
import { isStateFile, stemOf } from '../parse/state.ts';
import type { StepKey, WorkflowLibrary } from '../ports.ts';
import { textOf } from '../run/step-of.ts';
import { type DecidingAgain, decideAgain, startOf, unlimited } from './decide-again.ts';
import {
  causeOf,
  type Departure,
  departure,
  failureText,
  isOwnTask,
  RecordedDecisions,
  waitTarget,
} from './recorded-decisions.ts';

export interface Finding extends StepKey, Omit<Departure, 'isRefused'> {
  /** The state whose step it is. */
  readonly state: string;
  readonly workflow: string;
}

/** An answer that its state would refuse. */
export interface Refused extends StepKey, Pick<Finding, 'state' | 'message'> {
  readonly tags: readonly Tag[];
  /** It is a state of the workflow with which the run began. */
  readonly isOwn: boolean;
}

export interface PlayedAgain {
  /** Where the run would go elsewhere. An agent has at most one: its recorded answers end there. */
  readonly elsewhere: readonly Finding[];
  /** Changes that may lead to another answer. The path that follows is unknown. */
  readonly open: readonly Finding[];
  /** The steps that were not compared, because their answers are not kept. */
  readonly notKept: readonly (StepKey & { readonly state: string })[];
  /** All answers that would be refused, also after an agent has left its path. */
  readonly refused: readonly Refused[];
}

export interface PlayAgainPorts extends Pick<DecidingAgain, 'answer'> {
  /** The workflow as it is now. It takes the place of the one with which the run began. */
  readonly workflow: Workflow;
  /** Loads the other workflows. */
  readonly library: Pick<WorkflowLibrary, 'get' | 'load'>;
  /** The prompt of a step; undefined if it is not kept. */
  readonly told: (step: StepKey) => Promise<string | undefined>;
}

export async function playAgain(
  events: readonly JournaledEvent[],
  ports: PlayAgainPorts,
): Promise<PlayedAgain> {
  const [started] = events;
  if (started?.type !== 'run-started')
    throw new UserError('bad-journal', 'The journal has no beginning.', 'Leave the run out.');
  await loadOthers(events, started.workflow, ports.library);
  const again = new Again(events, started, ports);
  for (const [index, event] of events.entries()) await again.next(event, index);
  return again.result();
}

/** A workflow that can no longer be read shows where an agent would enter it. */
async function loadOthers(
  events: readonly RunEvent[],
  own: string,
  library: PlayAgainPorts['library'],
): Promise<void> {
  const refs = new Set(events.flatMap((event) => ('workflow' in event ? [event.workflow] : [])));
  refs.delete(own);
  for (const ref of refs) {
    await library.load(ref).catch((error: unknown) => {
      if (!(error instanceof UserError)) throw error;
    });
  }
}

interface Found extends Finding {
  /** The number of the event at which it was found. */
  readonly index: number;
}

/** Follows the run as it went, and decides everything once more beside it. */
class Again {
  readonly #events: readonly JournaledEvent[];
  readonly #started: RunEventOf<'run-started'>;
  readonly #ports: PlayAgainPorts;
  readonly #workflows: Workflows;
  readonly #recorded: RecordedDecisions;
  readonly #deciding: DecidingAgain;
  readonly #found: Found[] = [];
  readonly #refused: Refused[] = [];
  readonly #notKept: PlayedAgain['notKept'][number][] = [];
  /** The waits of agents, as they were and as they would be. */
  readonly #waits = new Map<string, { readonly was: Wait; readonly now: Wait }>();
  /** The reminders that take the place of recorded ones, by the number of their event. */
  readonly #reminders = new Map<number, RunEvent>();
  /** The prompts that are known to have changed, so that a loop does not read all of its prompts. */
  readonly #changed = new Map<string, string>();
  #run: Run = newRun;

  constructor(
    events: readonly JournaledEvent[],
    started: RunEventOf<'run-started'>,
    ports: PlayAgainPorts,
  ) {
    this.#events = events;
    this.#started = started;
    this.#ports = ports;
    const { workflow, library } = ports;
    // A copy of the workflow may be somewhere else.
    const own = { ...workflow, ref: started.workflow };
    this.#workflows = (ref) => (ref === started.workflow ? own : library.get(ref));
    this.#recorded = new RecordedDecisions(events);
    this.#deciding = {
      workflows: this.#workflows,
      answer: ports.answer,
      findWorkflow: (path, agent) => this.#findWorkflow(path, agent),
    };
  }

  async next(event: JournaledEvent, index: number): Promise<void> {
    await this.#decideAgain(event, index);
    this.#run = apply(this.#run, this.#reminders.get(index) ?? event);
    if (event.type === 'run-started') this.#lookAtBeginning(event, index);
    if (event.type === 'step-started') await this.#lookAtText(event, index);
  }

  async #decideAgain(event: RunEvent, index: number): Promise<void> {
    const agent = 'agent' in event ? this.#run.agents.get(event.agent) : undefined;
    if (!agent) return;
    const { status } = agent;
    switch (event.type) {
      case 'step-started':
        return this.#startAgain(agent, event, index);
      case 'step-ended':
        if (status.kind === 'running' && isOwnTask(status.task.kind))
          await this.#endAgain(agent, event, index);
        return;
      case 'agent-answered':
      case 'question-timed-out':
      case 'join-reported':
        return this.#goOnAgain(agent, event, index);
      case 'agent-failed':
        return this.#failAgain(agent, event, index);
      default:
        return;
    }
  }

  #lookAtBeginning(event: RunEventOf<'run-started'>, index: number): void {
    // A variant begins in the middle of another run.
    if (event.beginning) return;
    const { workflow } = this.#ports;
    const { state } = event;
    const at = { agent: FIRST_AGENT, step: 0, state, workflow: event.workflow, index };
    const received = entryInput(workflow, event.input);
    if (!received.ok) {
      const message = `The run had no input, but ${received.problem}.`;
      this.#found.push({
        ...at,
        cause: 'policy',
        message,
        paths: { was: state, now: 'no start' },
      });
    }
    // A person who begins at another state names it.
    const isUsual = [state, workflow.entry].every((name) => ENTRIES.includes(stemOf(name)));
    if (!isUsual || isStateFile(basename(event.workflow)) || state === workflow.entry) return;
    const message = `The workflow now begins at ${workflow.entry}.`;
    this.#found.push({
      ...at,
      cause: 'target',
      message,
      paths: { was: state, now: workflow.entry },
    });
  }

  #startAgain(agent: Agent, event: RunEventOf<'step-started'>, index: number): void {
    const { status } = agent;
    if (status.kind !== 'ready' || !isOwnTask(status.task.kind)) return;
    const { state, step } = event;
    const at = { agent: agent.id, step, state, workflow: agent.workflow, index };
    for (const now of this.#begun(agent, event.at)) {
      if (now.type === 'agent-failed') {
        const { failure } = now;
        const paths = { was: state, now: failureText(failure) };
        this.#found.push({ ...at, cause: causeOf(failure), message: failure.message, paths });
      }
      if (now.type === 'step-started' && now.task === 'fill' && event.task !== 'fill') {
        const message = 'A model would first fill its placeholders. Its answer is not known.';
        this.#found.push({ ...at, cause: 'template', message });
      }
    }
  }

  #begun(agent: Agent, at: number): readonly RunEvent[] {
    return interpret(this.#workflows, unlimited(this.#run), startOf(agent.id, at));
  }

  /** The question or the join of an agent is over. */
  #goOnAgain(
    agent: Agent,
    event: RunEventOf<'agent-answered' | 'question-timed-out' | 'join-reported'>,
    index: number,
  ): void {
    const waits = this.#waits.get(agent.id);
    if (!waits) return;
    this.#waits.delete(agent.id);
    const [state, next] = [waits.was, waits.now].map((wait) => waitTarget(wait, event));
    if (state === undefined || next === undefined) return;
    const failure = entryProblem(this.#workflows, agent, agent.workflow, next);
    if (state === next && !failure) return;
    const { id, steps: step, workflow } = agent;
    const paths = { was: state, now: failure ? failureText(failure) : next };
    const found = { agent: id, step, state: agent.state, workflow, index, paths };
    const cause = failure ? causeOf(failure) : 'target';
    const message = failure?.message ?? 'The name of a state now means another file.';
    this.#found.push({ ...found, cause, message });
  }

  /** The agent failed when it should enter a state. After a step, that belongs to what followed from the step. */
  #failAgain(agent: Agent, { failure, at }: RunEventOf<'agent-failed'>, index: number): void {
    const { id, status, steps: step, workflow } = agent;
    const isOver =
      status.kind === 'asking'
        ? failure.kind === 'too-many-visits' &&
          !entryProblem(this.#workflows, agent, workflow, status.next)
        : status.kind === 'ready' &&
          isOwnTask(status.task.kind) &&
          this.#begun(agent, at).some(({ type }) => type === 'step-started');
    if (!isOver) return;
    const state = status.kind === 'asking' ? status.next : agent.state;
    const paths = { was: failureText(failure), now: state };
    const message = `The agent failed then: ${failure.message}`;
    const found = { agent: id, step, state, workflow, index, paths };
    this.#found.push({ ...found, cause: causeOf(failure), message });
  }

  async #endAgain(agent: Agent, event: RunEventOf<'step-ended'>, index: number): Promise<void> {
    const then = this.#recorded.after(index, agent.id);
    if (then.events.length === 0) return;
    const { id, state, workflow } = agent;
    const at = { agent: id, step: event.step, state, workflow, index };
    const decided = await decideAgain(this.#deciding, this.#run, agent, event, then);
    if (!decided) {
      this.#notKept.push({ agent: id, step: event.step, state });
      return;
    }
    const { decisions, unknown, tags } = decided;
    const departures = decisions.map((now) => departure(then, now));
    const [left] = departures;
    if (left?.paths && departures.every((one) => one?.paths)) {
      const { isRefused, ...found } = left;
      const message = unknown === undefined ? left.message : `${unknown} ${left.message}`;
      this.#found.push({ ...at, ...found, message });
      const isOwn = workflow === this.#started.workflow;
      if (isRefused)
        this.#refused.push({ agent: id, step: event.step, state, message, tags, isOwn });
      return;
    }
    const message = unknown ?? left?.message;
    if (message !== undefined) this.#found.push({ ...at, cause: 'policy', message });
    const [before, last] = [then, decisions[0]].map((one) => one?.events.at(-1));
    if (isWait(before) && isWait(last)) this.#waits.set(agent.id, { was: before, now: last });
    // The agent may get another reminder, and later ones depend on it.
    const isSame = before?.type === 'agent-reminded' && last?.type === 'agent-reminded';
    if (isSame && then.last !== undefined) this.#reminders.set(then.last, last);
  }

  async #findWorkflow(path: string, { workflow }: Agent): Promise<Located<WorkflowFact>> {
    const from = workflow === this.#started.workflow ? this.#ports.workflow.ref : workflow;
    try {
      const { ref, entry } = await this.#ports.library.load(path, from);
      return { found: true, ref, entry, inProject: true, unchanged: true };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { found: false, problem: `${error.message} ${error.remedy}` };
    }
  }

  /** Another text may get another answer. */
  async #lookAtText(event: RunEventOf<'step-started'>, index: number): Promise<void> {
    const agent = this.#run.agents.get(event.agent);
    const workflow = agent && this.#workflows(agent.workflow);
    const read = agent && this.#run.workflowFiles.get(agent.workflow);
    const state = workflow?.states.get(event.state);
    if (!agent || !workflow || !read || !state || state.kind === 'broken') return;
    const { task, step } = event;
    const at = { agent: agent.id, step, state: event.state, workflow: agent.workflow, index };
    if (state.kind === 'script' && task === 'state') {
      const message = 'The script has changed, so its recorded output may no longer hold.';
      if (hasChanged(read, workflow, state.name))
        this.#found.push({ ...at, cause: 'script', message });
      return;
    }
    // A later attempt may get a shorter text.
    if (!event.session || event.attempt > 1 || !SENDS_TEXT.includes(task)) return;
    const from = { workflow, run: this.#run, agent, taskFolder: () => FOLDER };
    const text = attempt(() => textOf(state, from));
    if (!text || !hasChanged(read, workflow, text.name)) return;
    const key = visitKey(agent.workflow, text.name);
    const now = withSpoken(wordsBefore(agent, step), text.prompt);
    const message = this.#changed.get(key) ?? (await this.#changeOf(event, now));
    if (message === undefined) return;
    this.#changed.set(key, message);
    this.#found.push({ ...at, state: text.name, cause: 'template', message });
  }

  /** A sentence about a prompt that differs from the one that the agent got. */
  async #changeOf(step: StepKey, now: string): Promise<string | undefined> {
    const told = await this.#ports.told(step);
    if (told === undefined)
      return 'The file has changed, and the prompt of then is not kept. The answer might differ.';
    return isSameText(told, now) ? undefined : 'The prompt has changed. The answer might differ.';
  }

  result(): PlayedAgain {
    const abandoned = abandonedSteps(this.#events);
    const counts = ({ agent, step }: StepKey) =>
      !abandoned.some((one) => one.agent === agent && one.first <= step && step <= one.last);
    const found = this.#found.filter(counts);
    const elsewhere: Finding[] = [];
    const open: Finding[] = [];
    // What an agent would do after it left the recorded path is unknown. So is what its later children would do.
    const left = new Set<string>();
    const known = new Set<string>();
    let next = 0;
    for (const [number, event] of this.#events.entries()) {
      if (event.type === 'agent-forked' && left.has(event.parent)) left.add(event.agent);
      for (let one = found[next]; one?.index === number; one = found[++next]) {
        const { index: _, ...finding } = one;
        if (left.has(finding.agent)) continue;
        if (finding.paths) {
          left.add(finding.agent);
          elsewhere.push(finding);
          continue;
        }
        // A loop finds the same again and again.
        const key = JSON.stringify([finding.agent, finding.cause, finding.state, finding.message]);
        if (!known.has(key)) open.push(finding);
        known.add(key);
      }
    }
    return {
      elsewhere,
      open,
      refused: this.#refused.filter(counts),
      notKept: this.#notKept.filter(counts),
    };
  }
}

const ENTRIES = ['1_START', 'START'];

/** The folder of an agent has another path on another machine, and asking for it would create it. */
const FOLDER = '\0task folder\0';

/** The tasks whose prompt comes from a file. */
const SENDS_TEXT: readonly string[] = ['state', 'judge', 'handover'];

type Wait = RunEventOf<'agent-asked' | 'join-started'>;

const isWait = (event: RunEvent | undefined): event is Wait =>
  event?.type === 'agent-asked' || event?.type === 'join-started';

/** The prompts of a YAML workflow share one fingerprint. */
function hasChanged(read: WorkflowFiles, { files = {} }: Workflow, name: string): boolean {
  if (name in read || name in files) return read[name] !== files[name];
  return changedFiles(read, files).some((file) => !isStateFile(file));
}

function isSameText(told: string, now: string): boolean {
  const parts = now.split(FOLDER);
  if (parts.length === 1) return told === now;
  let at = 0;
  for (const part of parts) {
    const found = told.indexOf(part, at);
    if (found < 0 || (at === 0 && found > 0)) return false;
    at = found + part.length;
  }
  return told.endsWith(parts.at(-1) ?? '');
}

/** The steps that a rewind left behind, unless it was undone. */
function abandonedSteps(events: readonly JournaledEvent[]) {
  const rewinds = new Map<number, RunEventOf<'run-rewound'>['abandoned']>();
  for (const event of events) {
    if (event.type !== 'run-rewound') continue;
    if (event.undoes !== undefined) rewinds.delete(event.undoes);
    rewinds.set(event.seq, event.abandoned);
  }
  return [...rewinds.values()].flat();
}
