import { apply } from '../interpret/apply.ts';
import type { Workflows } from '../interpret/follow.ts';
import { interpret } from '../interpret/interpret.ts';
import { waitsForLimit } from '../interpret/start-step.ts';
import type { RunEvent } from '../model/event.ts';
import type { Input, StartStep } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { endOfWait, OpenWaits, type Wait } from './open-waits.ts';
import { ReadyAgents } from './ready-agents.ts';

/** An event that was decided, with the run before and after it. */
export interface Decided {
  readonly event: RunEvent;
  readonly before: Run;
  readonly after: Run;
}

/** The circumstances of a decision. */
export interface Circumstances {
  readonly at: number;
  readonly newId: () => string;
  readonly executors: StartStep['executors'];
  /** The name of this process for the journal; undefined if it is not recorded. */
  readonly worker: string | undefined;
  /** Whether this process begins the agent's next step. Otherwise the step waits in a queue. */
  readonly startsHere: (agent: string) => boolean;
  /** Whether a user may answer a question while the run waits. */
  readonly attended: boolean;
  /** Whether this process may wait for the deadline of a question. */
  readonly patient: boolean;
}

/**
 * Decides for a run, in memory only. It interprets inputs and the waits that are over, starts the steps that
 * have room, and ends the run if nothing can continue. The caller stores what was decided before it acts on
 * it.
 */
export class Decider {
  readonly #workflows: Workflows;
  readonly #ready: ReadyAgents;
  readonly #waits: OpenWaits;
  /** The waits that were over at the last decision. */
  #tried: readonly Wait[] = [];
  #run: Run;

  constructor(workflows: Workflows, run: Run) {
    this.#workflows = workflows;
    this.#run = run;
    this.#ready = new ReadyAgents(workflows, run);
    this.#waits = new OpenWaits(run);
  }

  get run(): Run {
    return this.#run;
  }

  /** Folds an event, wherever it was decided. */
  follow(event: RunEvent): Decided {
    const before = this.#run;
    const after = apply(before, event);
    this.#run = after;
    if ('agent' in event) this.#ready.update(after, event.agent);
    if (event.type === 'usage-limit-lifted') this.#ready.limitLifted(after);
    // These change any number of agents.
    if (event.type === 'run-resumed' || event.type === 'run-rewound')
      for (const [id] of after.agents) this.#ready.update(after, id);
    const decided = { event, before, after };
    this.#waits.follow(decided);
    return decided;
  }

  decide(inputs: readonly Input[], circumstances: Circumstances): readonly Decided[] {
    const { at, newId, executors, worker, startsHere, attended, patient } = circumstances;
    const decided: Decided[] = [];
    const decideOn = (input: Input): boolean => {
      const events = interpret(this.#workflows, this.#run, input);
      for (const event of events) decided.push(this.follow(event));
      return events.length > 0;
    };
    inputs.forEach(decideOn);
    // An ended run waits for a resume.
    this.#tried = this.#run.status.kind === 'ended' ? [] : this.#waits.over(at);
    for (const wait of this.#tried) decideOn(endOfWait(wait, at));
    this.#ready.offer((agent) => {
      const queued = !startsHere(agent);
      const starter = { worker: queued ? undefined : worker, queued };
      const step = { agent, newSession: newId(), executors, ...starter };
      if (decideOn({ kind: 'start-step', at, ...step })) return 'started';
      const isLimited = waitsForLimit(this.#workflows, this.#run, { agent, executors, at });
      return isLimited ? 'limited' : 'refused';
    });
    decideOn({ kind: 'idle', at, attended, patient });
    return decided;
  }

  /** When to decide again at the latest; undefined if no time matters. */
  nextLook(at: number): number | undefined {
    return this.#waits.nextLook(at, this.#tried);
  }
}
