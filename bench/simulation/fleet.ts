/** Workers without steps: the real decisions in the real store, for steps that take no time. */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { KnownRun } from '../../src/fleet/known-run.ts';
import { register } from '../../src/fleet/worker-table.ts';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { readWorkflow } from '../../src/interpret/read-workflows.ts';
import { createLibrary } from '../../src/load/load.ts';
import { JOURNAL_VERSION, type RunEvent } from '../../src/model/event.ts';
import type { Facts, Input } from '../../src/model/input.ts';
import type { Run } from '../../src/model/run.ts';
import { NO_COST } from '../../src/model/step-account.ts';
import type { Workflow } from '../../src/model/workflow.ts';
import { readTags } from '../../src/parse/tags.ts';
import { type Database, openDatabase } from '../../src/postgres/database.ts';
import type { Head } from '../../src/postgres/head.ts';
import { openedBy } from '../../src/postgres/mailbox.ts';
import { migrate } from '../../src/postgres/migrations.ts';
import { insertRun } from '../../src/postgres/run-row.ts';
import { rowSeals } from '../../src/postgres/seals.ts';
import { runCodec } from '../../src/world/run-codec.ts';
import { takeTurn } from '../../test/fleet/decided-turn.ts';

export interface SimulatedFleet {
  readonly url: string;
  readonly database: Database;
  /** Unknown for a server that was running before. */
  readonly serverPid: number | undefined;
  /** Stores a run whose agents begin, or have begun, to loop. */
  newRun(agents: number): Promise<Run>;
  /** Another worker, with its own connections. */
  newWorker(): Promise<SimulatedWorker>;
  close(): Promise<void>;
}

export interface SimulatedWorker {
  /** Takes the waiting steps of a run. */
  take(run: Run, agents: readonly string[]): Promise<Run>;
  /** Ends the running steps of these agents, and begins their next ones: one transaction. */
  turn(run: Run, agents: readonly string[]): Promise<Run>;
}

const seal = async (purpose: string, text: string) =>
  createHmac('sha256', 'simulation').update(`${purpose}\0${text}`).digest('hex');
const derived = async (purpose: string) => Buffer.from(await seal('derived', purpose), 'hex');
const key = {
  seal,
  sealIfKnown: seal,
  derived,
  derivedIfKnown: derived,
  heads: '',
  isSealed: async (purpose: string, text: string, given: string) =>
    (await seal(purpose, text)) === given,
};
const runs = { codec: runCodec, rows: rowSeals(key) };

export async function simulatedFleet(
  url: string,
  serverPid: number | undefined,
): Promise<SimulatedFleet> {
  const opened: Database[] = [];
  const heads = new Map<string, Head>();
  const open = () => {
    const database = openDatabase({ url, connections: 4 });
    opened.push(database);
    return database;
  };
  const database = open();
  await migrate(database);
  const workflow = await loopingWorkflow();
  const get = (ref: string) => (ref === workflow.ref ? workflow : undefined);
  return {
    url,
    database,
    serverPid,
    async newRun(agents) {
      const events = firstEvents(workflow, agents);
      const run = events.reduce(apply, newRun);
      const head = await database.transaction((queries) => insertRun(queries, runs, events, run));
      heads.set(run.id, head);
      return run;
    },
    async newWorker() {
      const own = open();
      const id = randomUUID();
      const facts = { name: 'sim', host: 'sim', pid: 1, place: id, limits: LIMITS };
      await register(own, id, facts, 3_600_000);
      // As a worker keeps them.
      const known = new Map<string, KnownRun>();
      const knownOf = (run: Run) => {
        const head = heads.get(run.id);
        if (!head) throw new Error('The run is unknown.');
        const found = known.get(run.id) ?? new KnownRun(get, run, head);
        known.set(run.id, found);
        return found;
      };
      const turn = (run: Run, inputs: readonly Input[], isHeld = true) =>
        takeTurn(
          {
            ...{ database: own, runs, library: { get }, newId: randomUUID },
            load: async () => {},
            pack: () => Promise.reject(new Error('No workflow is read.')),
            worker: { id, name: 'sim', place: id },
            executors: { script: 'script' },
            openLetter: openedBy(key),
          },
          knownOf(run),
          { inputs, isHeld: () => isHeld, mayContinue: () => true, keep: async () => {} },
        ).then(({ run: after }) => after);
      return {
        // The first transaction starts the steps, and the second begins them here.
        async take(run, agents) {
          const started = await turn(run, []);
          await own.query(
            'update raymond.claims set worker = $1 where run = $2 and agent = any($3)',
            [id, run.id, agents],
          );
          return turn(started, [], false);
        },
        async turn(run, agents) {
          const after = await turn(run, endsOf(run, agents));
          if (after.seq < run.seq + agents.length) throw new Error('The steps did not end.');
          return after;
        },
      };
    },
    async close() {
      for (const each of opened) await each.close();
    },
  };
}

const LIMITS = { prompts: 1, scripts: 1 };

async function loopingWorkflow(): Promise<Workflow> {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-simulation-'));
  try {
    writeFileSync(join(cwd, 'START.sh'), 'echo "<reset>START</reset>"\n');
    return await createLibrary({ cwd, platform: 'unix', agents: AGENTS }).load('.');
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** A run with this many agents, each of which is ready for its first step. */
function firstEvents(workflow: Workflow, agents: number): readonly RunEvent[] {
  const at = Date.now();
  const { ref, entry: state } = workflow;
  const settings = { ...newRun.settings, maxParallelScripts: 100_000 };
  const started: RunEvent = {
    ...{ type: 'run-started', version: JOURNAL_VERSION, at, workflow: ref, state, settings },
    run: `sim-${randomBytes(6).toString('hex')}`,
    cwd: '/',
    metadata: {},
  };
  const forks = Array.from({ length: agents - 1 }, (_, index): RunEvent => {
    const agent = `main_worker${index + 1}`;
    const worker = { agent, parent: 'main', counter: index + 1, state, workflow: ref, cwd: '/' };
    return { type: 'agent-forked', at, ...worker, variables: {} };
  });
  const get = (wanted: string) => (wanted === ref ? workflow : undefined);
  return [started, ...readWorkflow(get, ref, at), ...forks];
}

const READING = readTags('<reset>START</reset>', { code: 'ignored' });
const FACTS: Facts = {
  directories: new Map(),
  workflows: new Map(),
  worktrees: new Map(),
  environment: new Set(),
};

function endsOf(run: Run, agents: readonly string[]): readonly Input[] {
  return agents.map((agent) => {
    const status = run.agents.get(agent)?.status;
    if (status?.kind !== 'running') throw new Error(`${agent} does not run.`);
    const outcome = {
      kind: 'answered',
      ...{ reading: READING, text: '', denied: [], facts: FACTS, account: { cost: NO_COST } },
    } as const;
    return { kind: 'step-ended', at: Date.now(), agent, step: status.step, outcome };
  });
}
