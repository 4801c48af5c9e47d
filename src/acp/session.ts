/**
 * One conversation of an editor: a run, and after it the next one. The run is an ordinary run of the project,
 * carried by another process, so it continues when the editor leaves.
 */
import type { PromptResponse, SessionUpdate, StopReason } from '@agentclientprotocol/sdk';
import type { RunControl } from '../app/for-programs.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { JournaledEvent, RunEventOf } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import { requestIn } from '../model/permission.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import { Describer } from '../observe/describe.ts';
import {
  message,
  permissionCall,
  permissionOptions,
  questionMessage,
  stepMessageUpdates,
  updatesOf,
} from './updates.ts';

/** The way from the session to the editor. */
export interface EditorSide {
  update(update: SessionUpdate): Promise<unknown>;
  /** The id of the option that the person chose; undefined if they chose none. */
  decide(
    call: ReturnType<typeof permissionCall>,
    options: ReturnType<typeof permissionOptions>,
  ): Promise<string | undefined>;
}

type Looked = Awaited<ReturnType<RunControl['look']>>;

export class Session {
  readonly id: string;
  readonly #control: RunControl;
  readonly #editor: EditorSide;
  /** The workflow that the next run executes. */
  workflow: string | undefined;
  #runs = 0;
  #run: Run = newRun;
  #describer = describer();
  #isCancelled = false;
  #turn: AbortController | undefined;
  /** The running prompts whose messages are shown. */
  readonly #steps = new Map<string, { end(): Promise<void> }>();

  constructor(id: string, control: RunControl, editor: EditorSide, workflow: string | undefined) {
    this.id = id;
    this.#control = control;
    this.#editor = editor;
    this.workflow = workflow;
  }

  /** Shows the newest run of an earlier conversation. False if there is none. */
  async load(): Promise<boolean> {
    while (await this.#exists(runId(this.id, this.#runs + 1))) this.#runs += 1;
    if (this.#runs === 0) return false;
    const { found } = await this.#control.look(this.#current);
    const left = new AbortController();
    for await (const event of this.#control.attend(this.#current, { signal: left.signal })) {
      await this.#show(event);
      if (event.seq >= found.run.seq) left.abort();
    }
    await this.#showResult();
    return true;
  }

  async prompt(text: string): Promise<PromptResponse> {
    if (this.#turn)
      throw new UserError(
        'busy',
        `The session ${this.id} has a prompt already.`,
        'Wait until it ends, or cancel it.',
      );
    this.#isCancelled = false;
    this.#turn = new AbortController();
    try {
      const isContinued = this.#runs > 0 && (await this.#continue(text));
      if (!isContinued) await this.#start(text);
      // The cancel may have come before there was a run to stop.
      if (this.#isCancelled) await this.#stop();
      return { stopReason: await this.#follow(this.#turn.signal) };
    } finally {
      this.#turn = undefined;
    }
  }

  async cancel(): Promise<void> {
    this.#isCancelled = true;
    if (this.#runs > 0 && this.#turn) await this.#stop();
  }

  /** The editor has left. Its run continues. */
  leave(): void {
    this.#turn?.abort();
    for (const step of this.#steps.values()) void step.end();
  }

  async #stop(): Promise<void> {
    await this.#control.stop(this.#current, 'now').catch(tolerate);
  }

  get #current(): string {
    return runId(this.id, this.#runs);
  }

  async #exists(id: string): Promise<boolean> {
    return this.#control.look(id).then(
      () => true,
      (error: unknown) => {
        tolerate(error);
        return false;
      },
    );
  }

  async #start(text: string): Promise<void> {
    const [, named, rest] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
    const workflow = named ?? this.workflow;
    if (workflow === undefined)
      throw new UserError(
        'no-workflow',
        'No workflow is chosen.',
        'Choose one as the mode of the session, or begin the prompt with its path: /flow …',
      );
    const input = named === undefined ? text : (rest ?? '');
    const given = { ask_permissions: true, ...(input !== '' && { input }) };
    const { id, warnings } = await this.#control.start(
      workflow,
      given,
      runId(this.id, this.#runs + 1),
    );
    this.#runs += 1;
    this.#run = newRun;
    this.#describer = describer();
    if (id !== this.#current) throw new Error(`Bug: the run ${this.#current} has the id ${id}`);
    for (const warning of warnings) await this.#editor.update(message(`${warning}\n\n`));
  }

  /** Whether the prompt belongs to the run: it answers, or the run continues with it. */
  async #continue(text: string): Promise<boolean> {
    const looked = await this.#control.look(this.#current);
    const { owner, found } = looked;
    const open = openQuestion(looked);
    const { status } = found.run;
    if (status.kind === 'ended' && status.outcome === 'completed') return false;
    if (open) await this.#control.answer(this.#current, open.agent, text);
    if (!owner) await this.#control.resume(this.#current, {}, {});
    const isWord = !open && !/^\s*(?:continue|resume|go on)?[.!]?\s*$/i.test(text);
    if (isWord) await this.#control.say(this.#current, undefined, text);
    return true;
  }

  /** Shows what happens until the run ends, or until it needs words of the person. */
  async #follow(signal: AbortSignal): Promise<StopReason> {
    for await (const event of this.#control.attend(this.#current, {
      after: this.#run.seq,
      signal,
    })) {
      if (isStepEnd(event)) await this.#steps.get(stepId(event))?.end();
      await this.#show(event);
      if (event.type === 'step-started' && event.session !== undefined) this.#listen(event);
      if (event.type === 'permission-asked' && !event.isQuestion) void this.#decide(event);
      else if (event.type === 'agent-asked' || event.type === 'permission-asked') break;
    }
    await Promise.all([...this.#steps.values()].map((step) => step.end()));
    if (this.#isCancelled) return 'cancelled';
    const looked = await this.#control.look(this.#current);
    const open = openQuestion(looked);
    if (open) await this.#editor.update(questionMessage(open.agent, open.text));
    else await this.#showResult();
    return 'end_turn';
  }

  async #show(event: JournaledEvent): Promise<void> {
    const before = event.seq === 1 ? undefined : this.#run;
    this.#run = apply(this.#run, event);
    for (const update of updatesOf(event, before, this.#run, this.#describer))
      await this.#editor.update(update);
  }

  async #showResult(): Promise<void> {
    const { result } = this.#run;
    if (result !== undefined && result !== '') await this.#editor.update(message(`${result}\n`));
  }

  /** Shows what the agent of a step says and does, while it does so. */
  #listen({ agent, step }: RunEventOf<'step-started'>): void {
    let over = () => {};
    const isOver = new Promise<void>((resolve) => {
      over = resolve;
    });
    const run = this.#current;
    const showing = (async () => {
      for await (const news of this.#control.followStep(run, { agent, step }, isOver))
        for (const said of news.kind === 'messages' ? news.messages : [])
          for (const update of stepMessageUpdates({ agent, step }, said))
            await this.#editor.update(update);
    })().catch(tolerate);
    const id = stepId({ agent, step });
    const end = () => {
      this.#steps.delete(id);
      over();
      return showing;
    };
    this.#steps.set(id, { end });
  }

  /** Another person may decide first. */
  async #decide(event: RunEventOf<'permission-asked'>): Promise<void> {
    const request = requestIn(event);
    try {
      const chosen = await this.#editor.decide(
        permissionCall(event, request),
        permissionOptions(request),
      );
      const decision = DECISIONS.find((one) => one === chosen);
      if (!decision) return;
      const { agent } = event;
      await this.#control.decide(this.#current, { agent, request: request.request }, { decision });
    } catch (error) {
      tolerate(error);
    }
  }
}

const stepId = ({ agent, step }: { readonly agent: string; readonly step: number }) =>
  `${agent}:${step}`;

const DECISIONS = ['allow', 'allow-run', 'deny'] as const;

const runId = (session: string, run: number) => (run === 1 ? session : `${session}-${run}`);

const describer = () => new Describer(() => [], false);

interface OpenQuestion {
  readonly agent: string;
  readonly text: string;
}

/** The oldest question without an answer. */
function openQuestion({ questions, requests }: Looked): OpenQuestion | undefined {
  const question = questions.find(({ isAnswered }) => !isAnswered);
  if (question) return { agent: question.agent, text: question.question };
  const request = requests.find(({ isAnswered, isQuestion }) => isQuestion && !isAnswered);
  return request && { agent: request.agent, text: request.input };
}

/** The run is over, or unknown, or another person was faster. */
function tolerate(error: unknown): void {
  if (!(error instanceof UserError)) throw error;
}
