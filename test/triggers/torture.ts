/**
 * Kills processes that keep triggers at random moments, while files, deliveries and times of a schedule come.
 * Afterwards the ledger has every occasion, and each has exactly one run or the reason why it has none.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { pick, type Random, randomFrom } from '../crash/random.ts';
import { deliver, standardHeaders } from '../hooks/up.ts';
import { Project, type Started } from '../raymond.ts';

export interface TriggerTorture {
  readonly seed: number;
  readonly kills: number;
  /** How many `raymond up` there are at the same time. */
  readonly ups: number;
  /** With a database: how many workers there are beside them. */
  readonly workers?: number;
  readonly database?: string;
  /** How many occasions of each kind there are at least. */
  readonly occasions: number;
}

/** Who keeps the triggers in each game. */
export const GAMES: Readonly<Record<string, Pick<TriggerTorture, 'ups' | 'workers'>>> = {
  triggers: { ups: 1 },
  'triggers, two at once': { ups: 2 },
  // The listener is the only one that takes deliveries.
  'triggers of workers': { ups: 1, workers: 3 },
};

/** What came of the occasions. */
export type Outcomes = Readonly<Record<string, number>>;

const SECRET = "It's a Secret to Everybody";

/** Its only effect is one line, so a second execution would be seen. */
const START = `echo "$RAYMOND_WORKFLOW_ID $RAYMOND_ATTEMPT" >> 'LOG'
echo "<result>ok</result>"
`;

const FLOWS = {
  files: 'triggers: [{ files: "inbox/*" }]\n',
  each: 'triggers: [{ webhook: each, secret: HOOK }]\n',
  some: 'triggers: [{ webhook: some, secret: HOOK, overlap: skip }]\n',
  minutes: 'triggers: [{ schedule: "* * * * *", overlap: queue, missed: all }]\n',
};

interface Occasion {
  readonly workflow: string;
  readonly kind: string;
  readonly cause: string;
  readonly outcome: string;
  readonly why: string | null;
  readonly run: string | null;
}

/** Throws an error with the seed if an occasion was lost, or has started two runs. */
export async function tortureTriggers(wanted: TriggerTorture): Promise<Outcomes> {
  const project = new Project({}, 'ungeduldige Auslöser');
  for (const [name, manifest] of Object.entries(FLOWS)) {
    project.write(`${name}/workflow.yaml`, manifest);
    project.write(`${name}/START.sh`, START.replace('LOG', project.path('log')));
  }
  const game = new Game(wanted, project);
  try {
    const outcomes = await game.play();
    await project.dispose();
    return outcomes;
  } catch (error) {
    await game.end();
    throw new Error(`seed ${wanted.seed}: see ${project.folder}\n${game.words()}`, {
      cause: error,
    });
  }
}

class Game {
  readonly #wanted: TriggerTorture;
  readonly #project: Project;
  readonly #random: Random;
  readonly #alive = new Map<string, Started>();
  readonly #accepted: string[] = [];
  readonly #sending: Promise<void>[] = [];
  readonly #counts: Record<string, number> = { kills: 0, deliveries: 0, repeated: 0, files: 0 };
  #words = '';
  #isOver = false;

  constructor(wanted: TriggerTorture, project: Project) {
    this.#wanted = wanted;
    this.#project = project;
    this.#random = randomFrom(wanted.seed);
  }

  /** The last words of the processes. */
  words(): string {
    return [...this.#alive.values()]
      .reduce((all, one) => all + one.stderr(), this.#words)
      .slice(-4_000);
  }

  async play(): Promise<Outcomes> {
    const { kills, occasions, ups, workers = 0 } = this.#wanted;
    await this.#command(['secret', 'set', 'HOOK'], SECRET);
    for (const name of Object.keys(FLOWS)) await this.#command(['trust', name, '--yes']);
    const names = [...named('up', ups), ...named('worker', workers)];
    for (const name of names) this.#start(name);
    const most = Math.max(occasions, 1);
    for (let kill = 0; kill < kills; kill++) {
      // They are spread over the kills.
      while (this.#cause() * kills <= kill * most) this.#occur();
      const name = pick(this.#random, names) ?? '';
      await this.#moment(name);
      await this.#kill(name);
      this.#start(name);
    }
    while (this.#cause() < most) this.#occur();
    await Promise.all(this.#sending);
    await this.#rests();
    const outcomes = await this.#check();
    await this.end();
    return { ...this.#counts, ...outcomes };
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const { child } of this.#alive.values()) child.kill('SIGTERM');
    for (const { ended } of this.#alive.values()) await ended;
    await Promise.allSettled(this.#sending);
  }

  #database(): readonly string[] {
    const { database } = this.#wanted;
    return database === undefined ? [] : ['--database', database];
  }

  async #command(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.#project.run(
      args,
      input === undefined ? {} : { input },
    );
    assert.equal(code, 0, stderr);
    return stdout;
  }

  #start(name: string): void {
    const args = name.startsWith('up')
      ? ['up', '--listen', '127.0.0.1:0']
      : ['worker', '--name', name, '--lease', '5'];
    this.#alive.set(name, this.#project.start([...args, ...this.#database()]));
  }

  async #kill(name: string): Promise<void> {
    const victim = this.#alive.get(name);
    if (!victim) return;
    assert.equal(victim.child.exitCode, null, `${name} ended by itself`);
    victim.child.kill('SIGKILL');
    const { stderr } = await victim.ended;
    this.#words += stderr;
    this.#count('kills');
  }

  /** Somewhere between its first instruction and a while after its first run. */
  async #moment(name: string): Promise<void> {
    const { child, stderr } = this.#alive.get(name) ?? {};
    const isAlive = () => child?.exitCode === null && child.signalCode === null;
    const lines = 1 + Math.floor(this.#random() * 9);
    const runs = this.#runs() + 1;
    const pauseMs = this.#random() * 1_500;
    const until = Date.now() + MOST_MOMENT_MS;
    const kind = this.#random();
    if (kind < 0.3) await delay(pauseMs);
    else if (kind < 0.8)
      while (isAlive() && Date.now() < until && (stderr?.().split('\n').length ?? 0) <= lines)
        await delay(1);
    else while (isAlive() && Date.now() < until && this.#runs() < runs) await delay(1);
  }

  #runs(): number {
    return this.#project.lines('log').length;
  }

  #made = 0;
  #cause(): number {
    return this.#made;
  }

  #occur(): void {
    const number = ++this.#made;
    this.#project.write(`inbox/Brief ${number}`, `${number}`);
    this.#count('files');
    for (const hook of ['each', 'some']) this.#sending.push(this.#send(hook, `${hook}-${number}`));
  }

  /** Repeats the delivery until it is accepted, as a sender does. */
  async #send(hook: string, id: string): Promise<void> {
    const body = JSON.stringify({ id });
    for (;;) {
      if (this.#isOver) return;
      const ups = [...this.#alive].filter(([name]) => name.startsWith('up'));
      const [, up] = pick(Math.random, ups) ?? [];
      const address = up && /Listens at (http:\S+)\/hooks\//.exec(up.stderr())?.[1];
      const reply =
        address === undefined
          ? 'no address'
          : await deliver(
              `${address}/hooks/${hook}`,
              body,
              standardHeaders(SECRET, id, body),
            ).catch(() => 'no reply');
      if (reply.startsWith('2')) {
        this.#accepted.push(id);
        this.#count('deliveries');
        if (reply.startsWith('200')) this.#count('repeated');
        return;
      }
      assert.doesNotMatch(reply, /^4/);
      await delay(50);
    }
  }

  #count(what: string): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }

  async #occasions(): Promise<readonly Occasion[]> {
    const args = ['triggers', '--occasions', '99999', '--json', ...this.#database()];
    const lines = (await this.#command(args)).split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line));
  }

  /** Until nothing is open but the current minute. */
  async #rests(): Promise<void> {
    const until = Date.now() + MOST_REST_MS;
    for (;;) {
      const inbox = readdirSync(this.#project.path('inbox')).filter((name) =>
        name.startsWith('Brief'),
      );
      const open = (await this.#occasions()).filter(({ outcome }) =>
        ['due', 'started'].includes(outcome),
      );
      if (inbox.length === 0 && open.every(({ kind }) => kind === 'schedule') && open.length < 2)
        return;
      if (Date.now() > until)
        throw new Error(`Not over: ${JSON.stringify([inbox, open.slice(0, 20)], undefined, 1)}`);
      await delay(500);
    }
  }

  async #check(): Promise<Outcomes> {
    const occasions = await this.#occasions();
    const outcomes: Record<string, number> = {};
    const lines = this.#project.lines('log').map((line) => line.split(' '));
    const executed = new Set(lines.map(([run]) => run));
    const begun = lines.filter(([, attempt]) => attempt === '1').map(([run]) => run);
    assert.equal(new Set(begun).size, begun.length, 'a run was executed twice');
    const wholes = new Map<string, Occasion>();
    for (const one of occasions) {
      const { kind, cause, outcome, run, why } = one;
      const what = `${kind} ${cause}`;
      assert.ok(!wholes.has(what), `${what} has two records`);
      wholes.set(what, one);
      outcomes[`${kind}: ${outcome}`] = (outcomes[`${kind}: ${outcome}`] ?? 0) + 1;
      if (outcome === 'completed' || outcome === 'started' || outcome === 'failed') {
        // A run that has just started may not have written its line.
        if (outcome !== 'started') assert.ok(executed.has(run ?? ''), `${what} has no run`);
        // A worker that is killed may take the end of a script with it, and then only a person knows.
        if (outcome === 'failed') assert.ok(this.#wanted.workers, `${what} has failed`);
      } else if (outcome !== 'due') assert.ok(why, `${what} has no reason`);
    }
    const known = new Set(occasions.flatMap(({ run }) => run ?? []));
    for (const run of executed) assert.ok(known.has(run ?? ''), `${run} has no occasion`);
    for (const id of this.#accepted) assert.ok(wholes.has(`webhook ${id}`), `${id} was lost`);
    for (let file = 1; file <= this.#made; file++) {
      const found = wholes.get(`files inbox/Brief ${file}`);
      assert.ok(found, `the file ${file} was lost`);
      const folder = found.outcome === 'completed' ? 'done' : 'failed';
      assert.ok(
        existsSync(this.#project.path('inbox', folder, `Brief ${file}`)),
        `the file ${file} is elsewhere`,
      );
    }
    checkMinutes(occasions);
    return outcomes;
  }
}

/** With `missed: all`, no minute is left out. */
function checkMinutes(occasions: readonly Occasion[]): void {
  const minutes = occasions
    .filter(({ kind }) => kind === 'schedule')
    .map(({ cause }) => Date.parse(cause) / 60_000)
    .sort((a, b) => a - b);
  for (const [index, minute] of minutes.entries())
    if (index > 0) assert.equal(minute, (minutes[index - 1] ?? 0) + 1, 'a minute is missing');
}

const named = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index + 1}`);

const MOST_MOMENT_MS = 5_000;
const MOST_REST_MS = 10 * 60_000;
