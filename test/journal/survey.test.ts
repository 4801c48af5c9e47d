// The index of runs saves reads, and never gives another answer than the journals.
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { type Disk, realDisk } from '../../src/journal/disk.ts';
import { fileRuns } from '../../src/journal/file-runs.ts';
import { fileStore } from '../../src/journal/file-store.ts';
import { findProject, makeProject } from '../../src/journal/project.ts';
import { INDEX } from '../../src/journal/run-index.ts';
import { userKey } from '../../src/journal/user-key.ts';
import type { RunEvent, RunEventOf } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import { summaryOf } from '../../src/model/run-summary.ts';
import type { RunStore, SurveyedRun } from '../../src/ports.ts';
import { runCodec as codec } from '../../src/world/run-codec.ts';
import { diskError } from './door.ts';
import { journalOf, started, temporaryFolder } from './fixtures.ts';

/** Long enough after every change of a test. */
const LATER_MS = 60_000;

interface Circumstances {
  readonly folder?: string;
  readonly disk?: Partial<Disk>;
  readonly pid?: number;
  /** How much later than the changes of the files. */
  readonly laterMs?: number;
  readonly key?: string;
  readonly isAlive?: boolean;
}

/** A process that looks at the runs of a project. */
async function processIn(folder: string, circumstances: Circumstances = {}) {
  const { disk: own, pid = 1, laterMs = LATER_MS, key = 'user', isAlive = true } = circumstances;
  const disk = { ...realDisk, ...own };
  const project = await findProject(realDisk, folder, folder, `${folder}/user`);
  await makeProject(realDisk, project);
  const clock = { now: () => Date.now() + laterMs, at: () => () => {} };
  const parts = { disk, project, key: userKey(realDisk, join(folder, key, 'key')) };
  const lockWorld = () => ({
    self: { pid, started: '1', boot: 'b', space: 's', host: 'h' },
    clock,
    isAlive: () => isAlive,
    report: () => {},
  });
  const runs = async () => fileRuns({ ...parts, codec, lockWorld });
  const store = fileStore({ ...parts, clock, runs });
  return { store, project };
}

const woke = (at: number): RunEvent => ({ type: 'agent-woke', at, agent: 'main' });
const over: RunEventOf<'run-ended'> = { type: 'run-ended', at: 9, outcome: 'completed' };
const asked: RunEvent = {
  ...{ type: 'agent-asked', at: 5, agent: 'main', question: '?', next: started.state },
};

/** Begins a run with some events, and releases it. */
async function keep(store: RunStore, id: string, ...events: readonly RunEvent[]): Promise<Run> {
  const first = { ...started, run: id, at: 1 + events.length };
  const begun = apply(newRun, first);
  const lease = await store.lease(id);
  const { journal } = await lease.create([first], begun);
  const run = events.reduce(apply, begun);
  await journal.append(events, run);
  await lease.release();
  return run;
}

/** The expected result of a survey: the answers of a look at each run. */
async function looked(store: RunStore): Promise<readonly SurveyedRun[]> {
  const found = await Promise.all((await store.list()).map((id) => store.look(id)));
  return found.map((one) => (one.kind === 'stored' ? { ...one, run: summaryOf(one.run) } : one));
}

/** A project with runs of several kinds, which are in the index. */
async function indexed(folder?: string) {
  const place = folder ?? (await temporaryFolder());
  const { store, project } = await processIn(place);
  await keep(store, 'done', woke(2), over);
  await keep(store, 'open', woke(2));
  await keep(store, 'asks', asked, { ...over, outcome: 'waiting' });
  await store.survey();
  const paths = { index: project.indexFile, state: project.stateFolder, runs: project.runsFolder };
  return { folder: place, store, ...paths, journal: join(project.stateFolder, 'done.jsonl') };
}

/** The journals that were opened, by the names of their runs. */
function counted() {
  const opened: string[] = [];
  let bytes = 0;
  const open: Disk['open'] = async (path, how) => {
    const file = await realDisk.open(path, how);
    opened.push(basename(path));
    const read: typeof file.read = async (into, position) => {
      const got = await file.read(into, position);
      bytes += got;
      return got;
    };
    return { ...file, read };
  };
  return { disk: { open }, opened, bytes: () => bytes };
}

test('gives the same as a look at each run, from the journals and from the index', async () => {
  const { folder, index } = await indexed();
  const { store } = await processIn(folder);
  const expected = await looked(store);
  expect(expected).toHaveLength(3);
  expect(await store.survey()).toEqual(expected);
  rmSync(index);
  expect(await store.survey()).toEqual(expected);
});

test.each([10, 200])('reads one file for %i unchanged runs', async (runs) => {
  const folder = await temporaryFolder();
  const { store, project } = await processIn(folder);
  const events = Array.from({ length: 20 }, (_, n) => woke(n));
  await keep(store, 'r0', ...events, over);
  for (let n = 1; n < runs; n++) {
    const journal = journalOf([{ ...started, run: `r${n}` }, ...events, over]);
    writeFileSync(join(project.stateFolder, `r${n}.jsonl`), journal);
  }
  await store.survey();
  const { disk, opened, bytes } = counted();
  const later = await processIn(folder, { disk });
  expect(await later.store.survey()).toHaveLength(runs);
  expect(opened).toEqual(['index']);
  expect(bytes() / runs).toBeLessThan(700);
});

test('notices that the remembered ends of unchanged journals are gone', async () => {
  const { folder } = await indexed();
  const { store } = await processIn(folder);
  const own = async () => {
    const runs = await store.survey();
    return runs.filter((run) => run.kind === 'stored' && run.isOwn).length;
  };
  expect(await own()).toBe(3);
  rmSync(join(folder, 'user', 'heads'), { recursive: true });
  expect(await own()).toBe(0);
});

test('reads only the journal that has changed', async () => {
  const { folder, store } = await indexed();
  const lease = await store.lease('open');
  const { run, journal } = await lease.open();
  await journal.append([over], apply(run, over));
  await lease.release();
  const { disk, opened } = counted();
  const later = await processIn(folder, { disk });
  const surveyed = await later.store.survey();
  expect(surveyed).toEqual(await looked(store));
  expect(opened.filter((name) => name.endsWith('.jsonl'))).toEqual(['open.jsonl']);
});

test('notices a changed byte, even if the time of the file was set back', async () => {
  const { store, journal } = await indexed();
  const { atime, mtime } = lstatSync(journal);
  const bytes = readFileSync(journal);
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  writeFileSync(journal, bytes);
  utimesSync(journal, atime, mtime);
  const [, done] = await store.survey();
  expect(done).toMatchObject({ kind: 'damaged', problem: { code: 'journal-corrupt' } });
  writeFileSync(journal, '');
  expect(await store.survey()).toEqual(await looked(store));
});

test('does not keep a run in the index that has only just changed', async () => {
  const { folder, index } = await indexed();
  rmSync(index);
  const { store } = await processIn(folder, { laterMs: 0 });
  expect(await store.survey()).toHaveLength(3);
  expect(existsSync(index)).toBe(false);
});

const FORGERIES: readonly [string, (text: string, folder: string) => Promise<string> | string][] = [
  ['another cost', (text) => text.replaceAll('"totalCostUsd":0', '"totalCostUsd":99')],
  ['another owner', (text) => text.replaceAll('"isOwn":true', '"isOwn":false')],
  ['no seal', (text) => `\n${text.split('\n')[1]}\n`],
  ['no lines', () => ''],
  ['other bytes', () => '\0\xff\n[]\n'],
  [
    'the seal of a stranger',
    async (text, folder) => {
      const entries = text.split('\n')[1]?.replaceAll('"isOwn":true', '"isOwn":false') ?? '';
      const stranger = userKey(realDisk, join(folder, 'stranger', 'key'));
      return `${await stranger.seal('index', entries)}\n${entries}\n`;
    },
  ],
  [
    'the user’s seal for another purpose',
    async (text, folder) => {
      const entries = text.split('\n')[1]?.replaceAll('"isOwn":true', '"isOwn":false') ?? '';
      const key = userKey(realDisk, join(folder, 'user', 'key'));
      return `${await key.seal('run', entries)}\n${entries}\n`;
    },
  ],
  [
    'entries of another version',
    async (_, folder) => {
      const key = userKey(realDisk, join(folder, 'user', 'key'));
      const entries = '[{"id":"done","isOwn":false}]';
      return `${await key.seal(`cache ${INDEX}`, entries)}\n${entries}\n`;
    },
  ],
];

test.each(FORGERIES)('ignores an index with %s', async (_, forge) => {
  const { folder, store, index } = await indexed();
  const expected = await looked(store);
  writeFileSync(index, await forge(readFileSync(index, 'utf8'), folder));
  expect(await store.survey()).toEqual(expected);
  // It is replaced by a good one.
  const { disk, opened } = counted();
  expect(await (await processIn(folder, { disk })).store.survey()).toEqual(expected);
  expect(opened).toEqual(['index']);
});

test('a torn index is ignored, wherever it ends', async () => {
  const { store, index } = await indexed();
  const expected = await looked(store);
  const whole = readFileSync(index);
  for (let end = 0; end < whole.length; end += 37) {
    writeFileSync(index, whole.subarray(0, end));
    expect(await store.survey(), `after ${end} bytes`).toEqual(expected);
  }
});

test('an old index is checked against the files of today', async () => {
  const { store, index, journal } = await indexed();
  const old = readFileSync(index);
  const lease = await store.lease('open');
  const { run, journal: open } = await lease.open();
  await open.append([over], apply(run, over));
  await lease.release();
  truncateSync(journal, lstatSync(journal).size - 5);
  await store.survey();
  writeFileSync(index, old);
  expect(await store.survey()).toEqual(await looked(store));
});

test('an index that came with a copy of the project does not count', async () => {
  const { folder } = await indexed();
  const copy = await temporaryFolder();
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  const journal = join(copy, '.raymond', 'state', 'done.jsonl');
  const { mtime } = lstatSync(journal);
  const bytes = readFileSync(journal);
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  writeFileSync(journal, bytes);
  utimesSync(journal, mtime, mtime);
  const { store } = await processIn(copy);
  expect(await store.survey()).toEqual(await looked(store));
});

test('a run of another user stays foreign, and a new seal makes it the user’s own', async () => {
  const { folder, store } = await indexed();
  const stranger = await processIn(folder, { key: 'stranger' });
  const isOwn = async (one: RunStore) =>
    (await one.survey()).map((found) => found.kind === 'stored' && found.isOwn);
  expect(await isOwn(stranger.store)).toEqual([false, false, false]);
  await keep(stranger.store, 'planted', over);
  for (const _ of ['from the journal', 'from the index'])
    expect(await isOwn(store)).toEqual([true, true, true, false]);
  const lease = await store.lease('planted');
  const { run } = await lease.open();
  await lease.seal(run);
  await lease.release();
  expect(await isOwn(store)).toEqual([true, true, true, true]);
});

test('an owner is seen immediately, and a dead one is not an owner', async () => {
  const { folder, store } = await indexed();
  const owners = async (one: RunStore) =>
    (await one.survey()).map((found) => found.kind === 'stored' && found.owner?.pid);
  const lease = await store.lease('open');
  const other = await processIn(folder, { pid: 2 });
  expect(await owners(other.store)).toEqual([undefined, undefined, 1]);
  // The lock stays, as after a crash.
  const after = await processIn(folder, { pid: 2, isAlive: false });
  for (const _ of ['from the journal', 'from the index'])
    expect(await owners(after.store)).toEqual([undefined, undefined, undefined]);
  expect(await owners(other.store)).toEqual([undefined, undefined, 1]);
  await lease.release();
});

test('a removed run leaves the index at the next survey', async () => {
  const { store, index } = await indexed();
  const lease = await store.lease('asks');
  await lease.remove();
  await lease.release();
  expect(await store.survey()).toHaveLength(2);
  expect(readFileSync(index, 'utf8')).not.toContain('"id":"asks"');
});

test('a user without a key gets no index and no key', async () => {
  const { folder, index } = await indexed();
  rmSync(index);
  const { store } = await processIn(folder, { key: 'nobody' });
  expect(await store.survey()).toHaveLength(3);
  expect(existsSync(index)).toBe(false);
  expect(existsSync(join(folder, 'nobody'))).toBe(false);
});

test.each(['open', 'write', 'rename'] as const)(
  'works on a disk that fails to %s',
  async (what) => {
    const { folder, store, index } = await indexed();
    const expected = await looked(store);
    rmSync(index);
    const fail = async () => {
      throw diskError('ENOSPC');
    };
    const full: Partial<Disk> = {
      async open(path, how) {
        if (how !== 'create') return realDisk.open(path, how);
        if (what === 'open') return fail();
        return { ...(await realDisk.open(path, how)), ...(what === 'write' && { write: fail }) };
      },
      ...(what === 'rename' && { rename: fail }),
    };
    const { store: other } = await processIn(folder, { disk: full });
    expect(await other.survey()).toEqual(expected);
    expect(readdirSync(join(folder, '.raymond')).filter((name) => name.includes('index'))).toEqual(
      [],
    );
  },
);

test.each(['a folder', 'a link', 'a file that nobody may read'])(
  'works with %s in place of the index',
  async (what) => {
    const { folder, store, index } = await indexed();
    const expected = await looked(store);
    const content = readFileSync(index);
    rmSync(index);
    const target = join(folder, 'target');
    writeFileSync(target, content);
    if (what === 'a folder') mkdirSync(index);
    else if (what === 'a link') symlinkSync(target, index);
    else {
      writeFileSync(index, content);
      chmodSync(index, 0);
    }
    expect(await store.survey()).toEqual(expected);
    expect(readFileSync(target)).toEqual(content);
  },
);

test('notices lines that were added to the journal of a finished run', async () => {
  const { store, journal } = await indexed();
  appendFileSync(journal, 'x\n');
  expect(await store.survey()).toEqual(await looked(store));
});

test('a second look at an unchanged run does not read it, and sees each change', async () => {
  const { folder } = await indexed();
  const { disk, opened } = counted();
  const { store } = await processIn(folder, { disk });
  const reads = async (id = 'open') => {
    opened.length = 0;
    const found = await store.look(id);
    const wasRead = opened.includes(`${id}.jsonl`);
    return { found, wasRead };
  };
  const first = await reads();
  expect(first.wasRead).toBe(true);
  expect(await reads()).toEqual({ ...first, wasRead: false });
  // Its owner is no part of its files.
  const lease = await (await processIn(folder, { pid: 2 })).store.lease('open');
  expect(await reads()).toMatchObject({ wasRead: false, found: { owner: { pid: 2 } } });
  const { run, journal } = await lease.open();
  await journal.append([over], apply(run, over));
  await lease.release();
  expect(await reads()).toMatchObject({
    wasRead: true,
    found: { owner: undefined, run: { seq: 3 } },
  });
  expect(await reads()).toMatchObject({ wasRead: false, found: { isOwn: true } });
  rmSync(join(folder, 'user', 'heads'), { recursive: true });
  expect(await reads()).toMatchObject({ wasRead: true, found: { isOwn: false } });
  truncateSync(join(folder, '.raymond', 'state', 'open.jsonl'), 40);
  for (const _ of ['once', 'again'])
    expect(await reads()).toMatchObject({ wasRead: true, found: { kind: 'damaged' } });
  rmSync(join(folder, '.raymond', 'state', 'open.jsonl'));
  expect(await reads()).toMatchObject({ found: { problem: { code: 'journal-missing' } } });
});

test('a look does not remember a run that has only just changed', async () => {
  const { folder } = await indexed();
  const { disk, opened } = counted();
  const { store } = await processIn(folder, { disk, laterMs: 0 });
  for (const _ of ['once', 'again']) await store.look('done');
  expect(opened.filter((name) => name === 'done.jsonl')).toHaveLength(2);
});

test('only the runs that were looked at last are remembered', async () => {
  const folder = await temporaryFolder();
  const { disk, opened } = counted();
  const { store } = await processIn(folder, { disk });
  const ids = Array.from({ length: 20 }, (_, n) => `run-${n}`);
  for (const id of ids) await keep(store, id, over);
  for (const id of ids) await store.look(id);
  opened.length = 0;
  for (const id of ids.toReversed()) await store.look(id);
  expect(opened.filter((name) => name.endsWith('.jsonl'))).toHaveLength(12);
});

test('a survey of many runs leaves time for others', async () => {
  const { store } = await processIn(await temporaryFolder());
  for (let n = 0; n < 100; n++) await keep(store, `run-${n}`, over);
  // From the index, which takes the fewest turns.
  await store.survey();
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  expect(await store.survey()).toHaveLength(100);
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(100 / 16);
});
