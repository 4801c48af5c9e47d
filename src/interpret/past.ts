/**
 * Collects the facts that a rewind needs: the moment to go back to, and what happened after it. It
 * follows the events once, and keeps a few facts of each step.
 */
import { AbandonedSteps } from '../model/abandoned-steps.ts';
import type { JournaledEvent, Restoration, RunEventOf } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { NoteChanges } from '../model/notes.ts';
import { OpenRewinds } from '../model/open-rewinds.ts';
import type { RewindRequest } from '../model/rewind-request.ts';
import type { Agent, Run } from '../model/run.ts';

export interface PastStep {
  /** Undefined for a rewind, which changes files like a step. */
  readonly agent: string | undefined;
  readonly step: number;
  readonly cwd: string;
  readonly started: number;
  readonly isPrompt: boolean;
  /** The numbers of events, as `started`. */
  ended: number | undefined;
  /** The stored files before and after the step. */
  before: string | undefined;
  after: string | undefined;
}

interface StepKey {
  readonly agent: string;
  readonly step: number;
}

export interface Moment {
  /** The number of the first event after the moment. */
  readonly seq: number;
  /** The time of that event. */
  readonly at: number;
  readonly run: Run;
  /** The agents whose step ran at the moment, as they were before it. */
  readonly beforeStep: ReadonlyMap<string, { readonly agent: Agent; readonly started: number }>;
  /** The newest message of each session after which its history can be cut off. */
  readonly checkpoints: ReadonlyMap<string, string>;
  /** The rewind that follows the moment, if this rewind is undone. */
  readonly rewind?: RunEventOf<'run-rewound'>;
}

export class Past {
  readonly #request: RewindRequest;
  readonly #steps: PastStep[] = [];
  readonly #newest = new Map<string, PastStep>();
  readonly #beforeStep = new Map<string, { agent: Agent; started: number }>();
  readonly #checkpoints = new Map<string, string>();
  readonly #rewinds = new OpenRewinds<Moment>();
  #moment: Moment | undefined;
  readonly abandoned = new AbandonedSteps();
  /** The event at which each session was continued last. */
  readonly continued = new Map<string, number>();
  /** The event with which each forked agent began, and its parent. */
  readonly forks = new Map<string, { readonly seq: number; readonly parent: string }>();
  /** What steps have changed in the notes of the run. */
  readonly noted: (StepKey & { readonly seq: number; readonly changes: NoteChanges })[] = [];
  /** Effects of one agent on another: the result of `from` has reached `to`, or `from` has stopped `to`. */
  readonly effects: { readonly seq: number; readonly from: string; readonly to: string }[] = [];

  constructor(request: RewindRequest) {
    this.#request = request;
  }

  follow(event: JournaledEvent, before: Run | undefined): void {
    this.abandoned.follow(event, event.seq);
    if (isStepEnd(event)) this.#endStep(event);
    else if (event.type === 'step-started') this.#startStep(event, before);
    else if (event.type === 'files-recorded') this.#recordFiles(event);
    else if (event.type === 'run-rewound') this.#rewind(event, before);
    else this.#notice(event);
  }

  /** The moment to go back to; undefined if there is none. */
  get moment(): Moment | undefined {
    return this.#request.kind === 'undo' ? this.#rewinds.newest : this.#moment;
  }

  get steps(): readonly PastStep[] {
    return this.#steps;
  }

  #startStep(event: RunEventOf<'step-started'> & { seq: number }, before: Run | undefined): void {
    const { agent: id, step, seq, session } = event;
    const agent = before?.agents.get(id);
    if (!before || !agent) return;
    const { agent: wanted, step: number } =
      this.#request.kind === 'to' ? this.#request : { agent: undefined, step: 0 };
    if (id === wanted && step === number) this.#moment = this.#momentAt(event, before);
    const { cwd } = agent;
    const isPrompt = session !== undefined;
    const trees = { ended: undefined, before: undefined, after: undefined };
    const past: PastStep = { agent: id, step, cwd, started: seq, isPrompt, ...trees };
    this.#steps.push(past);
    this.#newest.set(id, past);
    this.#beforeStep.set(id, { agent, started: seq });
    if (session?.use === 'continue') this.continued.set(session.id, seq);
  }

  #recordFiles({ agent, step, tree }: RunEventOf<'files-recorded'>): void {
    const newest = this.#newest.get(agent);
    if (newest?.step === step) newest.before = tree;
  }

  #rewind(event: RunEventOf<'run-rewound'> & { seq: number }, before: Run | undefined): void {
    if (!before) return;
    for (const file of event.files) this.#steps.push(asStep(event.seq, file));
    this.#rewinds.follow(event, () => this.#momentAt(event, before, event));
  }

  #notice(event: JournaledEvent): void {
    const { seq } = event;
    if (event.type === 'agent-forked') this.forks.set(event.agent, { seq, parent: event.parent });
    if (event.type === 'join-reported')
      for (const { agent } of event.workers)
        this.effects.push({ seq, from: agent, to: event.agent });
    if (event.type === 'agent-stop-requested' || event.type === 'agent-stopped') {
      this.effects.push({ seq, from: event.by, to: event.agent });
      this.effects.push({ seq, from: event.agent, to: event.by });
    }
  }

  #endStep({ agent, step: number, seq, tree, session, notes }: JournaledEvent & StepEnd): void {
    if (notes) this.noted.push({ agent, step: number, seq, changes: notes });
    const step = this.#newest.get(agent);
    if (step) Object.assign(step, { ended: seq, after: tree });
    if (session?.checkpoint !== undefined) this.#checkpoints.set(session.id, session.checkpoint);
  }

  #momentAt({ seq, at }: JournaledEvent, run: Run, rewind?: RunEventOf<'run-rewound'>): Moment {
    const running = [...this.#beforeStep].filter(
      ([id]) => run.agents.get(id)?.status.kind === 'running',
    );
    return {
      ...{ seq, at },
      run,
      beforeStep: new Map(running),
      checkpoints: new Map(this.#checkpoints),
      ...(rewind && { rewind }),
    };
  }
}

function asStep(seq: number, { root, before, tree }: Restoration): PastStep {
  const what = { agent: undefined, step: 0, cwd: root, isPrompt: false };
  return { ...what, started: seq, ended: seq, before, after: tree };
}

type StepEnd = RunEventOf<'step-ended' | 'step-failed' | 'step-interrupted'>;
