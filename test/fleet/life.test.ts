// One life of a worker with a real database. The test plays the guard and the steps.
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { scriptedAgent } from '../../src/execute/rehearsal/scripted.ts';
import { live } from '../../src/fleet/life.ts';
import type { FleetPorts } from '../../src/fleet/ports.ts';
import { StopRequests } from '../../src/fleet/stop-requests.ts';
import { register } from '../../src/fleet/worker-table.ts';
import { apply } from '../../src/interpret/apply.ts';
import type { RunEvent } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import { listenTo } from '../../src/postgres/notices.ts';
import { wake } from '../../src/postgres/run-row.ts';
import { UNCHECKED_ROWS } from '../../src/postgres/seals.ts';
import { NO_HEADS } from '../../src/postgres/seen-heads.ts';
import { runCodec } from '../../src/world/run-codec.ts';
import { looseLibrary } from '../../src/world/wire.ts';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { takeTurn } from './decided-turn.ts';
import { Fleet } from './fleet.ts';

const FLOW = {
  'flow/START.sh': `echo '<ask next="NEXT.sh">Well?</ask>'\n`,
  'flow/NEXT.sh': 'echo "<result>done</result>"\n',
};

const LIMITS = { prompts: 1, scripts: 1 };

/** `isBroken`: the run cannot be opened. */
async function newPlay(isBroken = () => false) {
  const url = await newDatabase();
  const fleet = await Fleet.open(url, FLOW);
  onTestFinished(() => fleet.dispose());
  const { database } = fleet;
  const seen: string[] = [];
  const library = looseLibrary(fleet.project.folder, {}).unpackingInto(fleet.project.path('out'));
  await library.load('flow');
  let openings = 0;
  let isLaunched = false;
  const ports: FleetPorts = {
    database,
    // As a worker that trusts all runs.
    runs: { codec: runCodec, rows: UNCHECKED_ROWS },
    heads: NO_HEADS,
    openLetter: fleet.openLetter,
    notices: listenTo(database),
    worker: { name: 'a', host: 'h', pid: 1, place: 'a', limits: LIMITS },
    leaseMs: 60_000,
    newId: randomUUID,
    limitsForAll: {},
    recovery: {
      async start() {
        isLaunched = true;
      },
      stop: async () => {},
      close: async () => {},
    },
    guard: async () => ({
      renew: () => {},
      watch: () => void seen.push('watched'),
      unwatch: () => void seen.push('unwatched'),
      ending: () => {},
      end: () => {},
    }),
    async openRun({ settings }) {
      if (isBroken()) throw new Error('the disk is full');
      const number = ++openings;
      const executor = scriptedAgent(({ state }) => {
        seen.push(`${state} of ${number} with ${settings.maxIterations}`);
        return state === 'START.sh' ? '<ask next="NEXT.sh">Well?</ask>' : '<result>done</result>';
      }, 'script');
      return {
        ...{ library, load: async () => {} },
        pack: () => Promise.reject(new Error('No workflow is read.')),
        executors: {
          prompt: executor,
          script: { ...executor, close: async () => void seen.push(`closed ${number}`) },
        },
        ground: {
          findDirectory: async () => ({ found: false, problem: 'None.' }),
          lookAtWorkflow: async () => ({ inProject: true, unchanged: true }),
          entryDigest: async () => '',
          environment: new Set<string>(),
        },
        folders: {
          step: (agent, step) => fleet.project.path(`steps/${agent}/${step}`),
          task: (agent) => fleet.project.path(`tasks/${agent}`),
          hasBegun: () => false,
          notes: { put: () => {}, read: () => undefined, remove: () => {}, digest: () => '' },
          put: () => {},
        },
      };
    },
    observer: () => ({ event: () => {}, live: () => {} }),
    recordOf: async () => undefined,
    leftRuns: async () => [],
    async endProcesses(runs) {
      for (const one of runs) seen.push(`ended ${one}`);
    },
    report: (text) => void seen.push(text),
  };
  const stops = new StopRequests();
  const living = live(ports, stops);
  onTestFinished(async () => {
    stops.ask('now');
    await living;
  });
  await eventually('the worker lives', () => isLaunched);

  /** A turn of another worker. */
  const other = randomUUID();
  await register(
    database,
    other,
    { name: 'b', host: 'h', pid: 2, place: 'b', limits: LIMITS },
    60_000,
  );
  const turnElsewhere = async (run: string) =>
    takeTurn(
      {
        ...{ database, runs: ports.runs, library, load: async () => {} },
        worker: { id: other, name: 'b', place: 'b' },
        pack: () => Promise.reject(new Error('No workflow is read.')),
        executors: { script: 'script' },
        newId: randomUUID,
        openLetter: fleet.openLetter,
      },
      await fleet.known(library.get, await fleet.look(run)),
      {
        ...{ inputs: [], isHeld: () => true },
        ...{ mayContinue: () => false, keep: async () => {} },
      },
    );
  const run = await fleet.begin('flow');
  const asks = () => fleet.asks(run);
  return { fleet, run, seen, turnElsewhere, asks };
}

/** As the command does it. */
async function append(fleet: Fleet, id: string, event: (run: Run) => RunEvent) {
  const lease = await fleet.store.lease(id);
  const { run, journal } = await lease.open();
  const added = event(run);
  await journal.append([added], apply(run, added));
  await lease.release();
}

async function stopElsewhere({ fleet, run, turnElsewhere }: Awaited<ReturnType<typeof newPlay>>) {
  await fleet.store.mailbox(run).post({ kind: 'stop', how: 'now', pid: 0 });
  expect((await turnElsewhere(run)).run.status).toMatchObject({ kind: 'ended' });
}

test('a worker closes a run that has ended on another one', async () => {
  const play = await newPlay();
  await play.asks();
  expect(play.seen).toEqual(['watched', 'START.sh of 1 with 0']);
  await stopElsewhere(play);
  await eventually('the run is closed', () => play.seen.includes('unwatched'));
  expect(play.seen).toEqual(['watched', 'START.sh of 1 with 0', 'closed 1', 'unwatched']);
});

test('the first step after a resume has the new settings, also if the worker knows the run', async () => {
  const play = await newPlay();
  const { fleet, run, seen, turnElsewhere } = play;
  await play.asks();
  await stopElsewhere(play);
  await append(fleet, run, ({ settings, updatedAt: at }) => ({
    ...{ type: 'run-resumed', at, settings: { ...settings, maxIterations: 77 } },
  }));
  const status = (await fleet.look(run)).agents.get('main')?.status;
  if (status?.kind !== 'asking') throw new Error('No question is open.');
  const { askedAt } = status;
  await fleet.store.mailbox(run).post({ kind: 'answer', agent: 'main', askedAt, text: 'Yes.' });
  await turnElsewhere(run);
  expect(await fleet.ended(run)).toMatchObject({ result: 'done' });
  expect(seen).toContain('NEXT.sh of 2 with 77');
  expect(seen.indexOf('closed 1')).toBeLessThan(seen.indexOf('NEXT.sh of 2 with 77'));
  expect(seen.filter((line) => line.startsWith('NEXT.sh'))).toHaveLength(1);
});

test.each(['../../../outside', 'other-1'])(
  'a row that claims to be the run %j is not opened',
  async (id) => {
    const { fleet, run, seen, asks } = await newPlay();
    await asks();
    seen.length = 0;
    // Anyone who may write to the database can copy the events of a run that the user has sealed.
    const columns = 'seq, version, status, summary, era, unfolded';
    await fleet.database.query(
      `insert into raymond.runs (id, ${columns}) select $2, ${columns} from raymond.runs where id = $1`,
      [run, id],
    );
    await fleet.database.query(
      'insert into raymond.events (run, seq, event) select $2, seq, event from raymond.events where run = $1',
      [run, id],
    );
    await wake(fleet.database, id);
    await eventually('a worker has looked at it', async () => {
      const due = await fleet.database.query(
        'select from raymond.wakeups where run = $1 and at > now()',
        [id],
      );
      return due.length > 0;
    });
    const isSaid = () => seen.join().includes('belongs to another run');
    if (id === 'other-1') await eventually('it says so', isSaid);
    const opened = seen.filter((line) => / of \d+ with /.test(line));
    expect(opened).toEqual([]);
    if (id !== 'other-1') expect(seen).toEqual([]);
  },
);

test('a run that cannot be opened is left to others, after its processes', async () => {
  const { fleet, run, seen } = await newPlay(() => true);
  await eventually('it is left', () => seen.includes('unwatched'));
  expect(seen.indexOf(`ended ${run}`)).toBeGreaterThan(seen.indexOf('watched'));
  expect(seen.indexOf('unwatched')).toBeGreaterThan(seen.indexOf(`ended ${run}`));
  const mine = 'select from raymond.claims where worker is not null';
  expect(await fleet.database.query(mine)).toEqual([]);
});
