import { runToSee, statusOf } from '../../app/find-run.ts';
import { type StepFacts, Steps } from '../../history/steps.ts';
import { followRun, NO_WORKER } from '../../host/follow-run.ts';
import { openRun } from '../../host/open-run.ts';
import { stepForm } from '../../look/step-form.ts';
import type { JournaledEvent } from '../../model/event.ts';
import { isStepEnd } from '../../model/event-kinds.ts';
import type { Run } from '../../model/run.ts';
import { UserError } from '../../model/user-error.ts';
import type { Line } from '../../observe/describe.ts';
import { printLines, retelling } from '../../observe/retell.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { nearest } from '../../parse/nearest.ts';
import type { StepKey } from '../../ports.ts';
import { agent } from '../../world/agent.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { isOldStep, oldPrints } from './old-prints.ts';

export interface LogsOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly agent?: string;
  /** With what the agents said and did in each step, before its end. */
  readonly verbose?: boolean;
  /** Without colour. */
  readonly plain?: boolean;
}

/** Prints what a run has reported. With `--follow`, continues until no process works on the run. */
export async function logs(
  here: Here,
  name: string | undefined,
  options: LogsOptions,
): Promise<number> {
  if (options.verbose && options.json)
    throw wrongUsage('Both --verbose and --json are given.', 'Remove one of them.');
  const around = await here();
  const { store, clock } = around;
  const id = await runToSee(store, name);
  const log = new Log(around, id, options);
  if (options.follow) {
    const unattended = (isMissing: boolean) => {
      if (isMissing) stderr.say(NO_WORKER);
    };
    for await (const seen of followRun({ store, clock }, id, { unattended })) {
      log.add(...seen);
      await log.flush();
    }
    const found = await openRun(store, id);
    if (found.run.status.kind !== 'ended') stderr.say(`${id}: ${statusOf(found)}`);
  } else {
    await openRun(store, id, (...seen) => log.add(...seen));
    log.addUnfinished();
    await log.flush();
  }
  log.checkAgent();
  return 0;
}

/** Collects the lines of events and prints them. */
class Log {
  readonly #retell = retelling(agent.alarmsOf);
  readonly #prints: (step: StepKey) => Promise<string>;
  readonly #options: LogsOptions;
  readonly #agents = new Set<string>();
  readonly #id: string;
  /** In old runs, a step takes the place of its prints, which are read later. */
  #waiting: (Line | OldStep | StepFacts)[] = [];
  readonly #steps = new Steps();
  readonly #world: Surroundings['world'];

  constructor({ store, world }: Around, id: string, options: LogsOptions) {
    this.#prints = oldPrints(store.records(id));
    this.#world = world;
    this.#options = options;
    this.#id = id;
  }

  add(event: JournaledEvent, before: Run | undefined, after: Run): void {
    if ('agent' in event) this.#agents.add(event.agent);
    const { agent: wanted, json } = this.#options;
    const isMeant = wanted === undefined || ('agent' in event && event.agent === wanted);
    if (json) {
      if (isMeant) stdout.json(event);
      return;
    }
    // Also for other agents: it remembers facts of their steps.
    const lines = this.#retell(event, before, after);
    if (this.#options.verbose) this.#steps.follow(event, after);
    if (!isMeant) return;
    if (this.#options.verbose && isStepEnd(event)) {
      const facts = this.#steps.find(event.agent, event.step);
      if (facts) this.#waiting.push(facts);
    }
    if (isOldStep(event, before)) {
      const { at, agent: who, step } = event;
      this.#waiting.push({ at, agent: who, step });
    }
    for (const line of lines) this.#waiting.push(line);
  }

  async flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    let lines: Line[] = [];
    for (const one of waiting)
      if ('started' in one) {
        stdout.lines(lines, this.#options);
        lines = [];
        const { printSaid } = await import('./show-step.ts');
        printSaid(await stepForm(this.#id, one, await this.#world.steps()));
      } else if ('step' in one) lines.push(...printLines(one, { text: await this.#prints(one) }));
      else lines.push(one);
    stdout.lines(lines, this.#options);
  }

  /** With `verbose`: the steps that are not over, as far as they are. */
  addUnfinished(): void {
    const { agent: wanted } = this.#options;
    for (const facts of this.#steps.all)
      if (!facts.ended && (wanted === undefined || facts.started.agent === wanted))
        this.#waiting.push(facts);
  }

  /** Throws a UserError if no event is of the wanted agent. */
  checkAgent(): void {
    const { agent: wanted } = this.#options;
    if (wanted === undefined || this.#agents.has(wanted)) return;
    const near = nearest(wanted, [...this.#agents]);
    throw new UserError(
      'no-agent',
      `The run has no agent ${wanted}.`,
      near === undefined ? `To see its agents: raymond show ${this.#id}` : `Did you mean ${near}?`,
    );
  }
}

interface OldStep extends StepKey {
  readonly at: number;
}

type Around = Pick<Surroundings, 'store' | 'world'>;
