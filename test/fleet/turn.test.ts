// One transaction of a worker, without processes: what happens when it is repeated, late or not alone.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadNamed } from '../../src/cli/load-named.ts';
import { sealedText } from '../../src/cli/own-runs.ts';
import { runCodec } from '../../src/cli/run-codec.ts';
import { looseLibrary } from '../../src/cli/wire.ts';
import { dbosQueues } from '../../src/fleet/dbos-queues.ts';
import { WorkerLost } from '../../src/fleet/lock-run.ts';
import { type Turn, type TurnParts, takeTurn } from '../../src/fleet/turn.ts';
import { buryDead, register, requeueLost } from '../../src/fleet/worker-table.ts';
import type { Input } from '../../src/model/input.ts';
import type { Run } from '../../src/model/run.ts';
import { NO_COST } from '../../src/model/step-account.ts';
import { readTags } from '../../src/parse/tags.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { Fleet } from './fleet.ts';

const FLOW = {
  'flow/START.sh': 'echo\n',
  'flow/NEXT.sh': 'echo\n',
};

let fleet: Fleet;
let run: Run;
let removeDatabase = async () => {};

// One database for all tests, because a process can have only one set of queues.
beforeAll(async () => {
  const url = await newDatabase((remove) => {
    removeDatabase = remove;
  });
  fleet = await Fleet.open(url, FLOW);
  const queues = dbosQueues({ url, limitsForAll: { prompts: undefined, scripts: undefined } });
  // Only to create the tables of the queues.
  await queues.start(
    randomUUID(),
    { prompts: 1, scripts: 1 },
    async () => {},
    () => false,
  );
  await queues.stop();
  await queues.close();
});

afterAll(async () => {
  await fleet.dispose();
  await removeDatabase();
});

beforeEach(async () => {
  await fleet.database.query('delete from raymond.workers');
  run = await fleet.look(await fleet.begin('flow'));
});

async function newWorker(name: string, leaseMs = 60_000): Promise<TurnParts> {
  const id = randomUUID();
  const facts = { name, host: 'h', pid: 1, place: name, limits: { prompts: 1, scripts: 1 } };
  await register(fleet.database, id, facts, leaseMs);
  const library = looseLibrary(fleet.project.folder, {}).unpackingInto(
    fleet.project.path('unpacked'),
  );
  await library.load('flow');
  await loadNamed(library, run.workflow);
  return {
    database: fleet.database,
    runs: { codec: runCodec, sealedText },
    worker: { id, name, place: name },
    library,
    load: async () => {},
    executors: { script: 'script' },
    newId: randomUUID,
    seal: async () => {},
    pack: () => Promise.reject(new Error('No workflow is read.')),
  };
}

const nothing: Turn = {
  inputs: [],
  wanted: [],
  isHeld: () => true,
  mayContinue: () => false,
  keep: async () => {},
};

const typesOf = ({ decided }: Awaited<ReturnType<typeof takeTurn>>) =>
  decided.map(({ event }) => event.type);

function ended(step: number, text: string): Input {
  const facts = {
    directories: new Map(),
    workflows: new Map(),
    worktrees: new Map(),
    environment: new Set<string>(),
  };
  const reading = readTags(text, { code: 'ignored' });
  const account = { cost: NO_COST };
  const outcome = { kind: 'answered', reading, text: '', denied: [], facts, account } as const;
  return { kind: 'step-ended', at: Date.now(), agent: 'main', step, outcome };
}

const queued = () =>
  fleet.database.query<{ id: string }>(
    'select workflow_uuid as id from raymond_dbos.workflow_status where workflow_uuid like $1 order by 1',
    [`${run.id}:%`],
  );

test('the first turn starts the first step and puts it into its queue, and a second turn does nothing', async () => {
  const a = await newWorker('a');
  expect(typesOf(await takeTurn(a, run, nothing))).toEqual(['step-started']);
  expect(await queued()).toEqual([{ id: `${run.id}:main:1` }]);
  // The worker knows the run only as it was before.
  const again = await takeTurn(a, run, nothing);
  expect(typesOf(again)).toEqual([]);
  expect(again.news.map(({ event }) => event.type)).toEqual(['step-started']);
  expect(await queued()).toHaveLength(1);
});

test('two workers at once: one takes the step, and only its end counts, once', async () => {
  const [a, b] = [await newWorker('a'), await newWorker('b')];
  await takeTurn(a, run, nothing);
  const wish = { ...nothing, wanted: ['main'] };
  const both = await Promise.all([takeTurn(a, run, wish), takeTurn(b, run, wish)]);
  expect(both.flatMap(({ taken }) => taken.map(({ how }) => how))).toEqual(['start']);
  const [winner, loser] = both[0]?.taken.length === 1 ? [a, b] : [b, a];
  const end = { ...nothing, inputs: [ended(1, '<goto>NEXT.sh</goto>')] };
  expect(typesOf(await takeTurn(loser, run, end))).toEqual([]);
  expect(typesOf(await takeTurn(winner, run, end))).toContain('step-ended');
  expect(typesOf(await takeTurn(winner, run, end))).toEqual([]);
  expect(await queued()).toHaveLength(2);
});

test('a worker that was declared dead changes nothing, and its step goes to another one as lost', async () => {
  const [a, b] = [await newWorker('a', 1), await newWorker('b')];
  await takeTurn(b, run, nothing);
  await takeTurn(a, run, { ...nothing, wanted: ['main'] });
  expect(await buryDead(fleet.database)).toEqual(['a']);
  const end = { ...nothing, inputs: [ended(1, '<goto>NEXT.sh</goto>')] };
  await expect(takeTurn(a, run, end)).rejects.toThrow(WorkerLost);
  expect(await queued()).toEqual([{ id: `${run.id}:main:1` }, { id: `${run.id}:main:1:2` }]);
  const { taken } = await takeTurn(b, run, { ...nothing, wanted: ['main'] });
  expect(taken).toMatchObject([{ how: 'lost', step: 1, claim: 1 }]);
});

test('a step whose worker starts again in the same folder is adopted', async () => {
  const a = await newWorker('a');
  await takeTurn(a, run, nothing);
  await takeTurn(a, run, { ...nothing, wanted: ['main'] });
  const again = await newWorker('a');
  const { taken } = await takeTurn(again, run, { ...nothing, wanted: ['main'] });
  expect(taken).toMatchObject([{ how: 'adopt', step: 1 }]);
  await expect(takeTurn(a, run, nothing)).rejects.toThrow(WorkerLost);
});

test('a worker continues with the next step of an agent, and finds the step again if the answer was lost', async () => {
  const a = await newWorker('a');
  await takeTurn(a, run, nothing);
  await takeTurn(a, run, { ...nothing, wanted: ['main'] });
  const turn: Turn = {
    ...nothing,
    inputs: [ended(1, '<goto>NEXT.sh</goto>')],
    isHeld: ({ step }) => step === 1,
    mayContinue: (_agent, kind) => kind === 'script',
  };
  const { continued } = await takeTurn(a, run, turn);
  expect(continued).toMatchObject([{ agent: 'main', step: 2 }]);
  expect(await queued()).toHaveLength(1);
  const { taken } = await takeTurn(a, run, turn);
  expect(taken).toMatchObject([{ agent: 'main', step: 2, how: 'adopt' }]);
});

test('a stop takes the steps that wait out of their queues, and the run ends', async () => {
  const a = await newWorker('a');
  await takeTurn(a, run, nothing);
  await fleet.store.mailbox(run.id).post({ kind: 'stop', how: 'drain', pid: 0 });
  const result = await takeTurn(a, run, nothing);
  expect(typesOf(result)).toEqual(['stop-requested', 'step-interrupted', 'run-ended']);
  expect(result.run.status).toEqual({ kind: 'ended', outcome: 'interrupted' });
  expect(await fleet.store.mailbox(run.id).messages()).toEqual([]);
  expect((await takeTurn(a, run, { ...nothing, wanted: ['main'] })).taken).toEqual([]);
});

test('a step that waits in no queue is put into it again', async () => {
  const a = await newWorker('a');
  await takeTurn(a, run, nothing);
  await fleet.database.query('delete from raymond_dbos.workflow_status');
  await fleet.database.query("update raymond.claims set since = now() - interval '1 hour'");
  await requeueLost(fleet.database);
  await requeueLost(fleet.database);
  expect(await queued()).toEqual([{ id: `${run.id}:main:1:2` }]);
});
