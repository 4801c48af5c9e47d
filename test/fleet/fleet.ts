/** A database, a project, and workers that execute its runs, as real processes. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive, processSpace, self } from '../../src/execute/process/index.ts';
import { KnownRun, type Mark } from '../../src/fleet/known-run.ts';
import { apply } from '../../src/interpret/apply.ts';
import type { Workflows } from '../../src/interpret/follow.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { readWorkflow } from '../../src/interpret/read-workflows.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { userKey } from '../../src/journal/user-key.ts';
import { JOURNAL_VERSION, type JournaledEvent, type RunEvent } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import type { RunStore } from '../../src/ports.ts';
import { type Database, openDatabase } from '../../src/postgres/database.ts';
import { type OpenLetter, openedBy } from '../../src/postgres/mailbox.ts';
import { migrate } from '../../src/postgres/migrations.ts';
import { postgresStore } from '../../src/postgres/postgres-store.ts';
import { type RowSeals, rowSeals } from '../../src/postgres/seals.ts';
import { type Heads, headsIn } from '../../src/postgres/seen-heads.ts';
import { endOldGuard } from '../../src/world/fleet/guard.ts';
import { keptWithRun } from '../../src/world/fleet/kept-with-run.ts';
import { loadNamed } from '../../src/world/load-workflows.ts';
import { runCodec } from '../../src/world/run-codec.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { looseLibrary } from '../../src/world/wire.ts';
import { eventually } from '../eventually.ts';
import { Project, type Started } from '../raymond.ts';
import { endSurvivors } from '../survivors.ts';

export class Fleet {
  readonly project: Project;
  readonly url: string;
  readonly database: Database;
  readonly store: RunStore;
  readonly rows: RowSeals;
  readonly heads: Heads;
  readonly openLetter: OpenLetter;
  /** The pauses before the retries of a new run. */
  retryPausesMs: readonly number[] = [10, 10, 10];
  readonly #workers: { readonly name: string; readonly started: Started }[] = [];

  private constructor(project: Project, url: string) {
    this.project = project;
    this.url = url;
    this.database = openDatabase({ url, isPatient: true });
    const key = userKey(realDisk, join(project.environment.XDG_STATE_HOME ?? '', 'raymond', 'key'));
    const here = { self: { ...self(), space: processSpace(), host: hostname() }, isAlive };
    const clock = { now: () => Date.now(), at: () => () => {} };
    this.rows = rowSeals(key);
    this.heads = headsIn(realDisk, join(project.folder, '..', 'seen by tests'), () => {});
    this.openLetter = openedBy(key);
    this.store = postgresStore({
      ...{ database: this.database, key, codec: runCodec, clock, heads: this.heads },
      world: () => here,
    });
  }

  static async open(
    url: string,
    files: Readonly<Record<string, string>>,
    name?: string,
  ): Promise<Fleet> {
    const fleet = new Fleet(new Project(files, name), url);
    await migrate(fleet.database);
    return fleet;
  }

  /** Stores a new run. Workers take it from there. */
  async begin(workflow: string, input?: string, remote?: string): Promise<string> {
    const cwd = this.project.folder;
    const library = looseLibrary(cwd, {});
    const { ref, name, entry } = await library.load(workflow);
    const id = `${name}-${randomBytes(4).toString('hex')}`;
    const scripts = library.unpackingInto(join(cwd, 'unpacked'));
    const at = Date.now();
    const started: RunEvent = {
      type: 'run-started',
      version: JOURNAL_VERSION,
      at,
      run: id,
      workflow: ref,
      state: entry,
      cwd,
      settings: { ...newRun.settings, retryPausesMs: [...this.retryPausesMs] },
      metadata: {},
      ...(input !== undefined && { input }),
    };
    const refs = await loadNamed(scripts, ref);
    const events = [started, ...refs.flatMap((one) => readWorkflow(scripts.get, one, at))];
    const around = await surroundings({ cwd });
    const kept = await keptWithRun(around, { id, workflows: refs, library, remote });
    const lease = await this.store.lease(id);
    await lease.create(events, events.reduce(apply, newRun), kept);
    await lease.release();
    return id;
  }

  worker(name: string, args: readonly string[] = [], env: Record<string, string> = {}): Started {
    const started = this.project.start(
      ['worker', '--name', name, '--state', this.stateOf(name), ...args],
      { env: { RAYMOND_DATABASE: this.url, ...env } },
    );
    this.#workers.push({ name, started });
    return started;
  }

  /** The folder of a worker. */
  stateOf(name: string): string {
    return join(this.project.folder, '..', `Größe ${name}`);
  }

  /** A state of a run with its position in the chain of events. */
  async known(get: Workflows, run: Run): Promise<KnownRun> {
    const [mark] = await this.database.query<Mark>(
      `select born::text, era::float8 as era, seal as link
         from raymond.runs r join raymond.events e on e.run = r.id where r.id = $1 and e.seq = $2`,
      [run.id, run.seq],
    );
    if (!mark) throw new Error(`${run.id} has no event ${run.seq}.`);
    return new KnownRun(get, run, mark);
  }

  async look(run: string): Promise<Run> {
    const found = await this.store.look(run);
    if (found.kind === 'damaged') throw found.problem;
    return found.run;
  }

  async events(run: string): Promise<readonly JournaledEvent[]> {
    const events: JournaledEvent[] = [];
    for await (const event of this.store.events(run)) events.push(event);
    return events;
  }

  /** The run after its end. */
  async ended(run: string): Promise<Run> {
    await eventually(`${run} ends`, async () => (await this.look(run)).status.kind === 'ended', 50);
    return this.look(run);
  }

  /** Waits until an agent has a question. */
  asks(run: string): Promise<void> {
    const asks = async () => {
      const found = await this.store.look(run);
      return found.kind === 'stored' && found.run.tally.asking > 0;
    };
    return eventually(`${run} asks`, () => asks().catch(() => false), 50);
  }

  /** Waits until a worker with this name has taken a step this many times. */
  owned(run: string, worker: string, claim: number): Promise<void> {
    return eventually(`${worker} has taken a step of ${run} as number ${claim}`, async () => {
      const rows = await this.database.query(
        `select from raymond.claims c join raymond.workers w on w.id = c.worker
          where c.run = $1 and w.name = $2 and c.claim = $3`,
        [run, worker, claim],
      );
      return rows.length > 0;
    });
  }

  /** Ends the lease of a worker that was killed. Its guard does not know, so its steps may still run. */
  async endLease(worker: string): Promise<void> {
    await this.database.query('update raymond.workers set lease_until = now() where name = $1', [
      worker,
    ]);
  }

  /** Waits until a step has written a file of the project. */
  file(path: string): Promise<void> {
    return eventually(`${path} exists`, () => existsSync(this.project.path(path)));
  }

  async dispose(): Promise<void> {
    await this.database.close();
    await this.end();
    await this.project.dispose();
  }

  /** Ends the workers and their steps. */
  async end(): Promise<void> {
    // An agent that waits for a prompt, or for a person, would wait for ever.
    for (const { name, started } of this.#workers) {
      started.child.kill('SIGKILL');
      await started.ended;
      await endOldGuard({ disk: realDisk, file: join(this.stateOf(name), 'guard') });
      await endSurvivors(this.project.folder, this.stateOf(name));
    }
    this.#workers.length = 0;
  }
}
