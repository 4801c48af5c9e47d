import type { Workflows } from '../interpret/follow.ts';
import type { RunEvent } from '../model/event.ts';
import { ignore, isStepEnd } from '../model/event-kinds.ts';
import type { Input, StartStep } from '../model/input.ts';
import { ANSWER_FILES, type KeptFile } from '../model/kept-file.ts';
import { messageOf } from '../model/message-of.ts';
import type { StepRights } from '../model/rights.ts';
import type { Agent, Run, RunningStatus } from '../model/run.ts';
import { isShortage } from '../model/shortage.ts';
import { interjection } from '../model/spoken.ts';
import { asksPermission } from '../model/tally.ts';
import { UserError } from '../model/user-error.ts';
import type { Evaluator } from '../model/workflow.ts';
import { agentNamed } from '../parse/chosen-agent.ts';
import type {
  Asking,
  Clock,
  Executor,
  Executors,
  FileHistory,
  Ground,
  KeptFiles,
  Live,
  RunFolders,
  RunningStep,
  RunPlace,
  Step,
  StepKeeper,
  StepKey,
  StepOutcome,
  WorkflowLibrary,
  Worktrees,
} from '../ports.ts';
import { AgentTrees } from './agent-trees.ts';
import { failedStep, interruptedStep, lostEnd } from './ended-step.ts';
import type { Inbox } from './inbox.ts';
import { KeptPrints } from './kept-prints.ts';
import { RecordedFiles } from './recorded-files.ts';
import { rulesOf, tightened } from './rules.ts';
import { RunNotes } from './run-notes.ts';
import { stepOf } from './step-of.ts';
import { reportOf } from './step-report.ts';
import type { TakenStep } from './turn.ts';

export interface StepsPorts {
  readonly library: WorkflowLibrary;
  readonly executors: Executors;
  readonly ground: Ground;
  /** Absent in rehearsals and in tests without a repository, which create no worktrees. */
  readonly worktrees?: Worktrees | undefined;
  /** Absent in rehearsals and workflow tests, which record no files. */
  readonly files?: FileHistory | undefined;
  /** Absent if the directories of the run are used as they are. */
  readonly place?: RunPlace;
  readonly folders: RunFolders;
  /** The files of questions and answers. Absent in tests without any. */
  readonly kept?: Pick<KeptFiles, 'read'> | undefined;
  readonly clock: Clock;
  readonly live: (step: StepKey, live: Live) => void;
  readonly keeper?: StepKeeper | undefined;
  /** Whether this process may start nothing more, because others have its steps. */
  readonly isOver?: () => boolean;
}

/** The running steps. An event launches a step, and an input reports its end. */
export class Steps {
  readonly workflows: Workflows;
  /** The names of the executors. */
  readonly executors: StartStep['executors'];
  readonly #ports: StepsPorts;
  readonly #inbox: Inbox<Input>;
  readonly #running = new Map<string, Promise<RunningStep>>();
  /** Stops waiting for files. */
  readonly #entering = new Map<string, AbortController>();
  /** The next step of an agent, if it is being prepared. */
  readonly #next = new Map<string, { step?: Step }>();
  readonly #trees: AgentTrees;
  readonly #files: RecordedFiles;
  readonly #notes: RunNotes;

  constructor(inbox: Inbox<Input>, ports: StepsPorts) {
    this.#inbox = inbox;
    this.#ports = ports;
    this.#trees = new AgentTrees(inbox, ports);
    this.#files = new RecordedFiles(inbox, ports);
    this.#notes = new RunNotes(ports);
    this.workflows = (ref) => ports.library.get(ref);
    const { prompt, script } = ports.executors;
    this.executors = { ...('start' in prompt && { prompt: prompt.name }), script: script.name };
  }

  /** Prepares for an event that is not on disk yet. `act` follows when it is. */
  prepare(event: RunEvent, run: Run): void {
    if (event.type !== 'step-started') return;
    const { agent: id } = event;
    const agent = run.agents.get(id);
    if (agent?.status.kind !== 'running' || agent.worktree?.tree) return;
    if (agent.joined || agent.answerFiles) return;
    // Its files may not be here yet.
    if (this.#ports.place) return;
    const { status } = agent;
    const { script } = this.#ports.executors;
    if (status.session || status.notes || !script.prepare) return;
    const next: { step?: Step } = {};
    this.#next.set(id, next);
    const isCurrent = () => this.#next.get(id) === next;
    const prepare = async () => {
      const step = isCurrent() && (await stepOf(this.#ports, run, agent, status));
      // The values of its secrets may have to be asked for.
      if (!step || step.rights?.secrets || !isCurrent()) return;
      next.step = step;
      script.prepare?.(step);
    };
    // The journal begins to write before this. A problem appears again when the step begins.
    setImmediate(() => void prepare().catch(() => {}));
  }

  act(event: RunEvent, run: Run): void {
    if (isStepEnd(event)) this.#notes.settle(event.agent);
    switch (event.type) {
      case 'step-started':
        this.#launch(run, event.agent, 'start');
        break;
      case 'stop-requested':
        if (event.how === 'now') this.stopAll();
        break;
      case 'agent-stop-requested':
        this.stop(event.agent);
        break;
      case 'permission-answered': {
        const { agent, request, decision, text } = event;
        void this.#running.get(agent)?.then((step) => step.decide?.(request, { decision, text }));
        break;
      }
      case 'words-said':
        if (event.step !== undefined) this.#say(event.agent, event.words, event.text);
        break;
      case 'run-ended':
        if (event.outcome === 'waiting') this.#leaveWaiting(run);
        break;
      default:
        ignore<'answer-signed' | 'words-heard' | 'handover-called' | 'prompt-filled'>(event);
    }
    this.#trees.act(event, run);
    this.#ports.keeper?.event(event);
  }

  /** Whether this process may do nothing more, because others have its steps. */
  get isOver(): boolean {
    return this.#ports.isOver?.() === true;
  }

  /** Begins steps that this process has got, and stops those that must not continue. */
  take(taken: readonly TakenStep[], run: Run): void {
    for (const step of taken) {
      if (step.how === 'lost') this.#inbox.put(lostEnd(step, run, this.#ports.clock.now()));
      else this.#launch(run, step.agent, step.how);
    }
    const isStopping = run.status.kind === 'stopping' && run.status.how === 'now';
    for (const { agent } of taken)
      if (isStopping || run.agents.get(agent)?.stoppedBy !== undefined) this.stop(agent);
  }

  /**
   * Takes the steps of an earlier process, and ends its other processes. The steps continue under the rules
   * of `run`. A step that began under the looser rules of `before` is stopped and repeated.
   */
  async succeed(taken: readonly TakenStep[], before: Run, run: Run): Promise<void> {
    this.#trees.catchUp(before);
    this.take(taken, run);
    await Promise.all(this.#running.values());
    this.#ports.keeper?.catchUp(run);
    await this.#ports.executors.endStrays?.();
    await Promise.all(taken.map(({ agent }) => this.#stopIfLooser(before, run, agent)));
  }

  /** Launches the running step of an agent, or adopts it if an earlier process has begun it. */
  #launch(run: Run, id: string, how: 'start' | 'adopt'): void {
    const agent = run.agents.get(id);
    if (agent?.status.kind !== 'running') return;
    const { status } = agent;
    const prints = new KeptPrints(status.session ? 'prompt' : 'script');
    const ahead = this.#prepared(id);
    const isReady = ahead && !this.#trees.isRemoving && this.#files.passOver(run, status);
    const running = isReady
      ? this.#startNow(ahead, prints)
      : this.#begin(run, agent, status, how, prints, ahead);
    this.#running.set(id, running);
    if (how === 'adopt') void this.#decideAgain(status, running);
    if (how === 'adopt') this.#sayAgain(agent, status);
    void this.#follow(run, agent, status, running, prints);
  }

  stop(agent: string): void {
    this.#trees.stop(agent);
    this.#entering.get(agent)?.abort(new Error('stopped'));
    void this.#running.get(agent)?.then((running) => running.stop());
  }

  stopAll(): void {
    for (const id of this.#running.keys()) this.stop(id);
  }

  /** Stops all steps, for any end of the loop. */
  async close(): Promise<void> {
    this.stopAll();
    await Promise.all([...this.#running.values()].map(async (step) => (await step).outcome));
    const { prompt, script } = this.#ports.executors;
    const ofPrompts = 'start' in prompt ? [prompt] : [...prompt.values()];
    await Promise.all([...ofPrompts, script].map((executor) => executor.close()));
    await this.#trees.close();
    await this.#ports.executors.endStrays?.();
    await this.#ports.keeper?.close();
  }

  /**
   * The run ends because only people can continue it. Steps that wait for them outlive this process, so
   * that a decision reaches them after a resume.
   */
  #leaveWaiting(run: Run): void {
    for (const [id, { status }] of run.agents) {
      const running = asksPermission(status) ? this.#running.get(id) : undefined;
      if (!running) continue;
      this.#running.set(
        id,
        running.then((step) => (step.leave ? { ...step, stop: step.leave } : step)),
      );
    }
  }

  async #stopIfLooser(before: Run, run: Run, id: string): Promise<void> {
    const running = await this.#running.get(id);
    const agent = before.agents.get(id);
    if (!running?.isAdopted || agent?.status.kind !== 'running') return;
    const { status } = agent;
    const agents = this.workflows(agent.workflow)?.agents;
    const declaration =
      agents && agentNamed(agents, status.lane?.agent ?? status.executor ?? agents.usual);
    const rules = async (of: Run, began?: StepRights) =>
      rulesOf(of, await stepOf(this.#ports, of, agent, status), began);
    // Changed files may have changed the rights as well, so those with which it began are recorded.
    const why = await Promise.all([rules(before, status.rights), rules(run)]).then(
      ([was, now]) => tightened(was, now, declaration),
      // The step can no longer be executed, and reports this itself.
      () => undefined,
    );
    if (why === undefined) return;
    const text = `stopped, to continue under the rules of this resume: ${why}`;
    this.#ports.live({ agent: agent.id, step: status.step }, { kind: 'note', text });
    running.stop();
  }

  /** The previous process may have died before it delivered a decision to the agent. */
  async #decideAgain({ decided }: RunningStatus, running: Promise<RunningStep>): Promise<void> {
    const step = await running;
    for (const { request, ...decision } of decided) step.decide?.(request, decision);
  }

  #say(agent: string, id: string, text: string): void {
    void this.#running.get(agent)?.then((step) => step.say?.(id, interjection(text)));
  }

  /**
   * The previous process may have died before the agent heard them. The agent ignores what it has heard, and
   * the executor has to know which words belong to the turn.
   */
  #sayAgain({ id, words }: Agent, { step }: RunningStatus): void {
    for (const { id: one, text, into } of words) if (into === step) this.#say(id, one, text);
  }

  /** The next step of an agent, if it was prepared. */
  #prepared(agent: string): Step | undefined {
    const next = this.#next.get(agent);
    this.#next.delete(agent);
    return next?.step;
  }

  /** Starts a prepared script before this function returns: another turn of the queue takes time. */
  async #startNow(step: Step, prints: KeptPrints): Promise<RunningStep> {
    try {
      return this.#ports.executors.script.start(step, this.#show(step, prints));
    } catch (error) {
      return unbegun(error);
    }
  }

  #show(
    { agent, number }: Pick<Step, 'agent' | 'number'>,
    prints: KeptPrints,
  ): (live: Live) => void {
    const ref = { agent, step: number };
    return (happening) => {
      prints.add(happening);
      this.#ports.live(ref, happening);
    };
  }

  async #begin(
    run: Run,
    agent: Agent,
    status: RunningStatus,
    how: 'start' | 'adopt',
    prints: KeptPrints,
    ahead: Step | undefined,
  ): Promise<RunningStep> {
    try {
      const step = ahead ?? (await stepOf(this.#ports, run, agent, status));
      const { executors, folders } = this.#ports;
      const hasBegun = how === 'adopt' && folders.hasBegun(agent.id, status.step);
      const lack = await this.#lackOf(step, hasBegun);
      if (lack) return lack;
      const absence = await this.#enter(agent, status, hasBegun);
      if (absence) return absence;
      const obstacle = await this.#trees.prepare(agent, status.step);
      // A step that has begun keeps its directory and its files, whatever has happened since.
      if (obstacle && !hasBegun) return obstacle;
      if (status.task.kind === 'state' && !hasBegun) {
        if (agent.joined) folders.put(agent.id, 'joined', resultsOf(run, agent.joined));
        if (agent.answerFiles)
          folders.put(agent.id, ANSWER_FILES, await this.#contentOf(agent.answerFiles));
      }
      if (how === 'start') await this.#compareEntry(agent, status);
      this.#notes.before(run, agent.id, status, hasBegun);
      if (!hasBegun) await this.#files.before(run, agent, status);
      if (this.isOver) return interruptedStep();
      const ref = { agent: agent.id, step: status.step };
      const executor = executorOf(executors, step, status);
      return executor[how](step, this.#show(step, prints), (asking) => this.#ask(ref, asking));
    } catch (error) {
      return how === 'start' ? unbegun(error) : failedStep(error);
    }
  }

  async #contentOf(files: readonly KeptFile[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const content = new Map<string, Uint8Array>();
    for (const { name, sha256 } of files) {
      const bytes = await this.#ports.kept?.read(sha256);
      if (!bytes)
        throw new Error(`The file ${name}, which came with the answer, is no longer kept.`);
      content.set(name, bytes);
    }
    return content;
  }

  /** The end of a step whose secrets are missing. One that has begun has their values, and keeps them. */
  async #lackOf(step: Step, hasBegun: boolean): Promise<RunningStep | undefined> {
    const problem = await this.#ports.executors.secrets?.ready(step.rights?.secrets ?? []);
    if (problem === undefined) return undefined;
    if (!hasBegun) return failedStep(`${step.state} cannot begin. ${problem}`, 'no-executable');
    const text = `${problem} ${step.state} continues with the value that it got when it began.`;
    this.#ports.live({ agent: step.agent, step: step.number }, { kind: 'note', text });
    return undefined;
  }

  /** Brings the files of the run here. Returns the end of the step if that fails. */
  async #enter(
    { id, cwd }: Agent,
    { step }: RunningStatus,
    hasBegun: boolean,
  ): Promise<RunningStep | undefined> {
    const { place } = this.#ports;
    if (!place) return undefined;
    const stop = new AbortController();
    this.#entering.set(id, stop);
    const { signal } = stop;
    const problem = await place.enter({ agent: id, step }, cwd, { signal, hasBegun });
    if (problem === undefined) return undefined;
    this.#entering.delete(id);
    return signal.aborted ? interruptedStep() : failedStep(problem, 'bad-directory');
  }

  /** Sends the files that a step leaves. The step has failed if other machines cannot get them. */
  async #leave({ id, cwd }: Agent, step: number, outcome: StepOutcome): Promise<StepOutcome> {
    const stop = this.#entering.get(id);
    this.#entering.delete(id);
    if (!stop) return outcome;
    const problem = await this.#ports.place?.leave({ agent: id, step }, cwd, stop.signal);
    if (problem === undefined) return outcome;
    const failure = { kind: 'crashed', message: problem } as const;
    return { kind: 'failed', failure, account: outcome.account };
  }

  #ask(step: StepKey, asking: Asking): void {
    const from = { ...step, at: this.#ports.clock.now() };
    if (asking.kind === 'requested')
      this.#inbox.put({ ...from, kind: 'permission-requested', request: asking.request });
    else if (asking.kind === 'heard')
      this.#inbox.put({ ...from, kind: 'words-heard', words: asking.words });
    else this.#inbox.put({ ...from, kind: 'permission-withdrawn', request: asking.request });
  }

  /** Reports what the agent finds as it enters a state, if the state compares its entries. */
  async #compareEntry(agent: Agent, { task, state, step }: RunningStatus): Promise<void> {
    if (task.kind !== 'state' || agent.attempts > 1) return;
    const own = this.workflows(agent.workflow)?.states.get(state);
    if (own?.kind !== 'prompt' || !own.policy.evaluators.some(isUnchanged)) return;
    const { ground, clock, live } = this.#ports;
    try {
      const digest = await ground.entryDigest(agent.input, agent.cwd);
      this.#inbox.put({ kind: 'state-entered', at: clock.now(), agent: agent.id, step, digest });
    } catch (error) {
      const text = `the evaluator "unchanged" cannot compare the files: ${messageOf(error)}`;
      live({ agent: agent.id, step }, { kind: 'note', text });
    }
  }

  async #follow(
    run: Run,
    agent: Agent,
    status: RunningStatus,
    running: Promise<RunningStep>,
    prints: KeptPrints,
  ): Promise<void> {
    const ended = await (await running).outcome;
    const { step } = status;
    const show = this.#show({ agent: agent.id, number: step }, prints);
    const warn = (text: string) => show({ kind: 'warning', text });
    const noted = this.#notes.after(run, agent.id, status, warn);
    const kept = {
      ...prints.kept(),
      ...(await this.#files.after(run, agent, status)),
      ...noted,
    };
    const outcome = await this.#leave(agent, step, {
      ...ended,
      account: { ...ended.account, ...kept },
    });
    const report = await reportOf(this.#ports, this.#trees, run, agent, outcome);
    const worktree = await this.#trees.look(agent, step);
    this.#running.delete(agent.id);
    this.#inbox.put({
      kind: 'step-ended',
      at: this.#ports.clock.now(),
      agent: agent.id,
      step,
      outcome: report,
      worktree,
    });
  }
}

const isUnchanged = ({ kind }: Evaluator) => kind === 'unchanged';

/** A step that was started is adopted by the executor that started it. */
function executorOf(
  { prompt, script }: Executors,
  step: Step,
  { executor: name }: RunningStatus,
): Executor {
  if (step.kind !== 'prompt') return script;
  if ('start' in prompt) return prompt;
  const executor = name === undefined ? undefined : prompt.get(name);
  if (executor) return executor;
  throw new UserError('no-agent', `There is no agent "${name}".`, 'Choose another agent.');
}

/** The results that a join has reported, by the name of the child. */
function resultsOf({ endedAgents }: Run, children: readonly string[]): ReadonlyMap<string, string> {
  const results = new Map<string, string>();
  for (const id of children) {
    const end = endedAgents.get(id)?.end;
    if (end?.kind === 'ended') results.set(id, end.result);
  }
  return results;
}

const unbegun = (error: unknown) => failedStep(error, isShortage(error) ? 'not-begun' : 'crashed');
