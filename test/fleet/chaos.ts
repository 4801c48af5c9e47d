/**
 * Disturbs workers and their database at random moments. Then it checks that every run ended like an
 * undisturbed one. No finished step may be executed twice, and no agent may have two steps at the same time.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { JournaledEvent } from '../../src/model/event.ts';
import { isStepEnd } from '../../src/model/event-kinds.ts';
import { pick, type Random, randomFrom } from '../crash/random.ts';
import { type PostgresServer, startServer } from '../postgres/server.ts';
import type { Started } from '../raymond.ts';
import { type Effect, effectsOf, overlaps, RECORDING } from './effects.ts';
import { Fleet } from './fleet.ts';
import { type Sky, skyOf, type Weather } from './weather.ts';

export { WEATHERS } from './weather.ts';

export interface Chaos {
  readonly runs: number;
  readonly workers: number;
  /** How many disturbances there are before everything may finish. */
  readonly disturbances: number;
  readonly seed: number;
  readonly leaseS?: number;
  /** Disturbs the network, the clocks or the disks of workers instead of killing them. */
  readonly weather?: Weather;
  /** All answers of the database take this much longer, for the weather `distance`. */
  readonly latencyMs?: number;
  readonly log?: (text: string) => void;
}

export interface Figures {
  runs: number;
  steps: number;
  answers: number;
  kills: number;
  pauses: number;
  databaseRestarts: number;
  databaseCrashes: number;
  exhaustions: number;
  /** How often the weather was bad for a worker. */
  weather: number;
  /** How often a worker lost its lease. */
  lostLeases: number;
  /** The steps that were interrupted. Each has an event that says so. */
  interruptions: number;
  /** The steps that were executed a second time, because their worker was lost. */
  repeatedSteps: number;
  /** From the start of a step to that of the next step of its agent, half of the time. */
  medianStepMs: number;
  seconds: number;
}

/**
 * The output of a script is on the disk of its worker. If that is full, a script has failed that does not
 * try again, and only a person knows whether it may be repeated. So these do.
 */
const SCRIPT = `${RECORDING}say() { until echo "$1"; do sleep 0.2; done; }
`;

/** Loops, a call, forks that loop, a join and a question. */
const FLOW: Readonly<Record<string, string>> = {
  'flow/START.sh': `${SCRIPT}pass 0.03; n=$(( \${RAYMOND_RESULT:-0} + 1 ))
if [ $n -lt 6 ]; then say "<goto input=\\"$n\\">START.sh</goto>"
else say '<call return="BACK.sh" input="0">CALLED.sh</call>'; fi
`,
  'flow/CALLED.sh': `${SCRIPT}pass 0.1
if [ $RAYMOND_RESULT -lt 2 ]; then say "<reset input=\\"$(( RAYMOND_RESULT + 1 ))\\">CALLED.sh</reset>"
else say "<result>called</result>"; fi
`,
  'flow/BACK.sh': `${SCRIPT}pass 0.05
for i in 1 2 3; do say "<fork n=\\"$i\\" input=\\"0\\">WORK.sh</fork>"; done
say '<join>ASK.sh</join>'
`,
  'flow/WORK.sh': `${SCRIPT}for i in 1 2 3 4 5; do pass 0.05; done
if [ $RAYMOND_RESULT -lt 3 ]; then say "<goto input=\\"$(( RAYMOND_RESULT + 1 ))\\">WORK.sh</goto>"
else say "<result>worker $n</result>"; fi
`,
  'flow/ASK.sh': `unset RAYMOND_RESULT; ${SCRIPT}say '<ask next="END.sh">Continue?</ask>'\n`,
  'flow/END.sh': `${SCRIPT}pass 0.02; say "<result>$RAYMOND_RESULT</result>"\n`,
};

/** Undefined if this machine cannot play the weather. */
export async function chaos(wanted: Chaos): Promise<Figures | undefined> {
  const server = await startServer({ maxConnections: 20 + 12 * wanted.workers });
  const fleet = await Fleet.open(server.url(), FLOW);
  // Longer than a disk is full.
  fleet.retryPausesMs = [500, 2_000, 4_000];
  const random = randomFrom(wanted.seed);
  const place = { url: server.url(), leaseS: wanted.leaseS ?? 8, folder: fleet.project.folder };
  const sky =
    wanted.weather && skyOf(wanted.weather, { ...place, random, latencyMs: wanted.latencyMs });
  try {
    if (wanted.weather && !sky) return undefined;
    return await new Play(wanted, server, fleet, random, sky).play();
  } finally {
    await fleet.end();
    await sky?.close();
    await fleet.dispose();
    await server.dispose();
  }
}

class Play {
  readonly #wanted: Chaos;
  readonly #server: PostgresServer;
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #sky: Sky | undefined;
  readonly #workers = new Map<string, Started>();
  readonly #figures: Figures = {
    ...{ runs: 0, steps: 0, answers: 0, kills: 0, pauses: 0, databaseRestarts: 0 },
    ...{ databaseCrashes: 0, exhaustions: 0, weather: 0, lostLeases: 0, interruptions: 0 },
    ...{ medianStepMs: 0, repeatedSteps: 0, seconds: 0 },
  };
  readonly #stepMs: number[] = [];
  #isOver = false;

  constructor(
    wanted: Chaos,
    server: PostgresServer,
    fleet: Fleet,
    random: Random,
    sky: Sky | undefined,
  ) {
    this.#wanted = wanted;
    this.#server = server;
    this.#fleet = fleet;
    this.#random = random;
    this.#sky = sky;
  }

  async play(): Promise<Figures> {
    try {
      return await this.#play();
    } finally {
      this.#isOver = true;
    }
  }

  async #play(): Promise<Figures> {
    const { runs, workers, disturbances } = this.#wanted;
    const began = Date.now();
    for (let number = 1; number <= workers; number++) await this.#start(`w${number}`);
    const answering = this.#answer().catch((error) => {
      if (!this.#isOver) throw error;
    });
    const model = await this.#fleet.begin('flow');
    await this.#ends([model]);
    const ids: string[] = [];
    // The runs begin in turn, so that each disturbance meets some of them.
    for (let number = 1; number <= disturbances; number++) {
      while (ids.length * disturbances < runs * number) ids.push(await this.#fleet.begin('flow'));
      await delay(200 + this.#random() * 1500);
      await this.#disturb();
    }
    await this.#ends(ids);
    this.#isOver = true;
    await answering;
    await this.#check(model, ids);
    for (const worker of this.#workers.values())
      this.#figures.lostLeases += lossesIn(worker.stderr());
    const [medianStepMs = 0] = this.#stepMs.sort((a, b) => a - b).slice(this.#stepMs.length / 2);
    this.#figures.medianStepMs = medianStepMs;
    return { ...this.#figures, runs: ids.length, seconds: Math.round((Date.now() - began) / 1000) };
  }

  async #start(name: string): Promise<void> {
    const args = ['--lease', String(this.#wanted.leaseS ?? 8), '--scripts', '4'];
    const env = await this.#sky?.over(name, this.#fleet.stateOf(name));
    const worker = this.#fleet.worker(name, args, env);
    this.#workers.set(name, worker);
    void worker.ended.then(({ code, signal, stderr }) => {
      this.#figures.lostLeases += lossesIn(stderr);
      this.#say(`${name} ended with ${code ?? signal}: ${stderr}`);
    });
  }

  async #disturb(): Promise<void> {
    // A script that is lost twice in a row fails, as it should: a person must look. That is not tested here.
    await this.#untilNothingIsRepeated();
    const how = pick(this.#random, this.#sky ? (['weather'] as const) : DISTURBANCES);
    const name = pick(this.#random, [...this.#workers.keys()]);
    if (how === undefined || name === undefined) return;
    this.#say(`${how} ${name}`);
    switch (how) {
      case 'weather':
        this.#figures.weather++;
        return this.#sky?.blow(name);
      case 'kill':
        return this.#kill(name);
      case 'pause':
        return this.#pause(name);
      case 'restart':
        this.#figures.databaseRestarts++;
        return this.#restart('fast');
      case 'crash':
        this.#figures.databaseCrashes++;
        return this.#restart('immediate');
      case 'exhaust':
        return this.#exhaust();
    }
  }

  async #kill(name: string): Promise<void> {
    this.#figures.kills++;
    const worker = this.#workers.get(name);
    worker?.child.kill('SIGKILL');
    await worker?.ended;
    // Sometimes soon enough to adopt its steps.
    if (this.#random() < 0.5) await delay(this.#random() * 1000 * (this.#wanted.leaseS ?? 8) * 1.5);
    await this.#start(name);
  }

  /** Long enough for others to take its steps. It is killed by its guard, or finds out when it wakes. */
  async #pause(name: string): Promise<void> {
    this.#figures.pauses++;
    const worker = this.#workers.get(name);
    worker?.child.kill('SIGSTOP');
    await delay(1000 * (this.#wanted.leaseS ?? 8) * (1.1 + this.#random()));
    worker?.child.kill('SIGCONT');
    if (worker && (await Promise.race([worker.ended, delay(3_000)]))) await this.#start(name);
  }

  async #restart(how: 'fast' | 'immediate'): Promise<void> {
    await this.#server.stop(how);
    await delay(this.#random() * 1000);
    await this.#server.start();
  }

  /** Takes all connections for a while. */
  async #exhaust(): Promise<void> {
    this.#figures.exhaustions++;
    const taken: pg.Client[] = [];
    const until = Date.now() + 500 + this.#random() * 2000;
    while (Date.now() < until) {
      const client = new pg.Client({ connectionString: this.#server.url() });
      client.on('error', () => {});
      const isTaken = await client.connect().then(
        () => true,
        () => false,
      );
      if (isTaken) taken.push(client);
      else await delay(50);
    }
    await Promise.all(taken.map((client) => client.end().catch(() => {})));
  }

  async #untilNothingIsRepeated(): Promise<void> {
    for (;;) {
      const running = await this.#fleet.database.query<{ run: string }>(
        'select distinct run from raymond.claims',
      );
      const runs = await Promise.all(running.map(({ run }) => this.#fleet.look(run)));
      const isRepeated = runs.some(({ agents }) => [...agents].some(([, one]) => one.retries > 0));
      if (!isRepeated) return;
      await delay(100);
    }
  }

  /** The person who answers all questions. */
  async #answer(): Promise<void> {
    while (!this.#isOver) {
      await delay(300);
      for (const found of await this.#fleet.store.survey()) {
        if (found.kind === 'damaged' || found.run.tally.asking === 0) continue;
        const { agents } = await this.#fleet.look(found.id);
        for (const [agent, { status }] of agents) {
          if (status.kind !== 'asking') continue;
          const { askedAt } = status;
          const letter = { kind: 'answer', agent, askedAt, text: 'yes' } as const;
          if (await this.#fleet.store.mailbox(found.id).post(letter)) this.#figures.answers++;
        }
      }
    }
  }

  async #areOver(ids: readonly string[]): Promise<boolean> {
    const rows = await this.#fleet.database.query(
      "select from raymond.runs where id = any($1) and status <> 'ended'",
      [ids],
    );
    return rows.length === 0;
  }

  async #ends(ids: readonly string[]): Promise<void> {
    const deadline = Date.now() + 120_000 + 200 * (this.#wanted.latencyMs ?? 0);
    while (!(await this.#areOver(ids))) {
      if (Date.now() > deadline) throw new Error(`Some runs do not end. ${await this.#standing()}`);
      await delay(100);
    }
  }

  async #standing(): Promise<string> {
    const claims = await this.#fleet.database.query('select * from raymond.claims');
    const workers = await this.#fleet.database.query(
      'select name, lease_until from raymond.workers',
    );
    return JSON.stringify({
      claims,
      workers,
      stderr: [...this.#workers].map(([, w]) => w.stderr()),
    });
  }

  async #check(model: string, ids: readonly string[]): Promise<void> {
    const all = effectsOf(this.#fleet.project);
    assert.deepEqual(overlaps(all), [], 'An agent had two steps at once.');
    const expected = endingOf(await this.#fleet.events(model));
    for (const id of ids) {
      const events = await this.#fleet.events(id);
      const failure = events.find(({ type }) => type === 'agent-failed');
      if (failure) this.#say(JSON.stringify(failure));
      assert.deepEqual(endingOf(events), expected, `${id} ended in another way.`);
      this.#checkEffects(
        id,
        events,
        all.filter(({ run }) => run === id),
      );
    }
  }

  /** Each finished step was executed once, and each other one at most once. */
  #checkEffects(id: string, events: readonly JournaledEvent[], effects: readonly Effect[]): void {
    const executions = new Map<string, Set<string>>();
    for (const { what, agent, state, input, attempt, pid } of effects) {
      const name = `${agent} ${state} ${input} ${attempt}`;
      const seen = executions.get(name) ?? new Set();
      if (what !== 'alive') assert.ok(!seen.has(`${what} ${pid}`), `${id}: ${name} twice`);
      if (what === 'begin')
        assert.ok(
          ![...seen].some((one) => one.startsWith('begin')),
          `${id}: ${name} was executed twice`,
        );
      if (what !== 'alive') executions.set(name, seen.add(`${what} ${pid}`));
    }
    const started = events.filter(({ type }) => type === 'step-started');
    const ended = events.filter(({ type }) => type === 'step-ended');
    const over = events.filter(isStepEnd);
    assert.equal(over.length, started.length, `${id}: the end of a step is not marked`);
    this.#figures.interruptions += over.length - ended.length;
    this.#figures.steps += started.length;
    const loop = events.filter((event) => event.type === 'step-started' && event.agent === 'main');
    loop.slice(1, 6).forEach(({ at }, n) => void this.#stepMs.push(at - (loop[n]?.at ?? at)));
    this.#figures.repeatedSteps += started.length - ended.length;
    const finished = [...executions.values()].filter((seen) =>
      [...seen].some((one) => one.startsWith('end')),
    );
    assert.ok(finished.length >= ended.length, `${id}: a finished step was not executed`);
    assert.ok(executions.size <= started.length, `${id}: more executions than decisions`);
  }

  #say(text: string): void {
    this.#wanted.log?.(text);
  }
}

const lossesIn = (stderr: string) => stderr.split('ends its steps:').length - 1;

const DISTURBANCES = ['kill', 'kill', 'pause', 'restart', 'crash', 'exhaust'] as const;

/** Everything that must not depend on disturbances: the states of each agent in order, and the results. */
function endingOf(events: readonly JournaledEvent[]) {
  const ways = new Map<string, string[]>();
  const results: string[] = [];
  const open = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'step-started') open.set(event.agent, event.state);
    if (event.type === 'step-ended')
      ways.set(event.agent, [...(ways.get(event.agent) ?? []), open.get(event.agent) ?? '']);
    if (event.type === 'agent-ended') results.push(`${event.agent}: ${event.result}`);
    if (event.type === 'run-ended') results.push(event.outcome);
  }
  return { ways: Object.fromEntries([...ways].sort()), results: results.sort() };
}
