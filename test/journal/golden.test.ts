/**
 * Journals that every version of Raymond wrote, with their state files. They must never change: a
 * run of last year must still load.
 * - runs of scripts with forks, calls, a failure and an open question
 * - a run that was killed while children ran
 * - a run with joins, killed while one of them waited
 * - a run with children in worktrees, killed while one of them worked
 * - a run that was rewound, continued, and rewound again
 * - a run with checks, and with an agent that goes round in circles
 * - a run with a handover and with filled placeholders
 * - a run of Claude Code with reminders, evaluators, retries and a usage limit
 * - a run that is long enough for a snapshot
 */
import { chmodSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { realDisk } from '../../src/journal/disk.ts';
import { openJournal } from '../../src/journal/file-journal.ts';
import { freeze } from '../../src/journal/freeze-run.ts';
import type { ChainKey } from '../../src/journal/heads.ts';
import { aloneIn, decodeSnapshot } from '../../src/journal/journal-format.ts';
import { readEvents, readRun } from '../../src/journal/read-journal.ts';
import { userKey } from '../../src/journal/user-key.ts';
import { JOURNAL_VERSION, type RunEvent, runEventSchema } from '../../src/model/event.ts';
import { isStepEnd } from '../../src/model/event-kinds.ts';
import type { Run } from '../../src/model/run.ts';
import { runCodec as codec } from '../../src/world/run-codec.ts';
import { alone, collected, create, open, temporaryFolder } from './fixtures.ts';

const journals = join(import.meta.dirname, '../journals');
const versions = readdirSync(journals)
  .filter((name) => name.startsWith('version-'))
  .map((name) => Number(name.replace('version-', '')));
const runs = versions.flatMap((version) =>
  runsOf(version).map((run) => ({ version, run, folder: join(journals, `version-${version}`) })),
);

function runsOf(version: number): string[] {
  const names = readdirSync(join(journals, `version-${version}`));
  return names.flatMap((name) => /^(.*)\.jsonl(\.gz)?$/.exec(name)?.[1] ?? []);
}

/** Copies the files of a run into one folder; returns the path of the journal. */
async function copied(folder: string, run: string): Promise<string> {
  const copy = await temporaryFolder();
  for (const name of readdirSync(folder).filter((one) => isFileOf(run, one))) {
    const bytes = readFileSync(join(folder, name));
    const isPacked = name.endsWith('.gz');
    await writeFile(join(copy, basename(name, '.gz')), isPacked ? gunzipSync(bytes) : bytes);
  }
  return join(copy, `${run}.jsonl`);
}

/** The key with which the journals of this version were written, beside the copy of one of them. */
async function ownKey(path: string): Promise<ChainKey> {
  const user = join(dirname(path), 'user');
  cpSync(join(journals, `version-${JOURNAL_VERSION}`, 'user'), user, { recursive: true });
  for (const name of ['key', ...readdirSync(join(user, 'heads')).map((id) => join('heads', id))])
    chmodSync(join(user, name), 0o600);
  return userKey(realDisk, join(user, 'key'));
}

/** Records of steps are not needed here. */
const isFileOf = (run: string, name: string) =>
  name.startsWith(`${run}.`) && !name.endsWith('.steps');

test('every version has journals', () => {
  expect(versions.sort()).toEqual(Array.from({ length: JOURNAL_VERSION }, (_, i) => i + 1));
});

test('the journals of version 1 have every kind of event of that version', async () => {
  const path = await copied(join(journals, 'version-1'), 'every-event');
  const events = await collected(readEvents(realDisk, path));
  expect(events).toHaveLength(40);
  expect(new Set(events.map(({ type }) => type)).size).toBe(22);
});

describe.each(runs)('version $version: $run', ({ version, run: id, folder }) => {
  test('gives the same run as its state file', async () => {
    const path = await copied(folder, id);
    const { run } = await readRun(realDisk, path, codec);
    const events = await collected(readEvents(realDisk, path));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(run).toEqual(events.reduce<Run | undefined>(codec.apply, undefined));
    expect(codec.thaw(asJson(freeze(run)))).toEqual(run);
    // The journal with every kind of event was written by hand, so it has no state file.
    if (id === 'every-event') return;
    const stateFile = await readFile(path.replace('.jsonl', '.json'), 'utf8');
    if (version >= 2) {
      // Later releases of these versions also keep the costs of turns, and the input of the run.
      const { turn_costs_usd, input, ...kept } = freeze(run);
      const shown = JSON.parse(stateFile);
      const later = Object.entries({ turn_costs_usd, input }).filter(([key]) => key in shown);
      expect(asJson({ ...kept, ...Object.fromEntries(later) })).toEqual(shown);
      return;
    }
    // Choices that were not made are null in version 1, and absent now.
    const isUnchosen = (key: string, value: unknown) =>
      value === null && (key === 'model' || key === 'effort');
    const shown = JSON.parse(stateFile, (key, value) =>
      isUnchosen(key, value) ? undefined : value,
    );
    expect(freeze(run)).toMatchObject(shown);
  });

  test('can be continued, in a file of this version', async () => {
    const path = await copied(folder, id);
    const before = await readFile(path);
    const { run, journal } = await open(realDisk, path, codec);
    const event = { type: 'usage-limit-lifted', at: run.updatedAt + 1 } as const;
    const after = codec.apply(run, event);
    await journal.append([event], after);
    await journal.close();
    expect((await readRun(realDisk, path, codec)).run).toEqual(after);
    const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ seq: 1, version: JOURNAL_VERSION });
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ seq: after.seq });
    // Without the key that wrote it, it is the journal of a stranger.
    expect((await readFile(`${path}.old-1`)).equals(before)).toBe(true);
  });
});

describe.each(runsOf(JOURNAL_VERSION))('the journal %s of this version', (id) => {
  const folder = join(journals, `version-${JOURNAL_VERSION}`);

  test('is the own one of the user who has the key and its end', async () => {
    const path = await copied(folder, id);
    const key = await ownKey(path);
    expect(await readRun(realDisk, path, codec, { key })).toMatchObject({ doubt: undefined });
    const opened = await openJournal(realDisk, path, codec, alone, key);
    expect(opened).toHaveProperty('journal');
    if ('journal' in opened) await opened.journal.close();
    expect(readdirSync(dirname(path))).not.toContain(`${id}.jsonl.old-1`);
  });
});

test.each(runs.filter(({ version }) => version < 3))(
  'version $version: $run is never the own one of a user',
  async ({ run, folder }) => {
    const path = await copied(folder, run);
    const { doubt } = await readRun(realDisk, path, codec, { key: await ownKey(path) });
    expect(doubt?.why).toContain('An older Raymond wrote it');
  },
);

test('the snapshot in a journal of this version equals the events before it', async () => {
  const path = await copied(join(journals, `version-${JOURNAL_VERSION}`), 'long');
  const lines = (await readFile(path, 'utf8')).split('\n');
  const line = lines.find((one) => one.includes('"type":"snapshot"')) ?? '';
  const { seq, state } = decodeSnapshot(aloneIn(Buffer.from(line))) ?? {};
  const events = await collected(readEvents(realDisk, path));
  const before = events.slice(0, seq).reduce<Run | undefined>(codec.apply, undefined);
  expect(before && asJson(freeze(before))).toEqual(state);
  expect(codec.thaw(state)).toEqual(before);
  const { run, folded } = await foldedFrom(path);
  expect(run).toEqual(events.reduce<Run | undefined>(codec.apply, undefined));
  expect(folded).toBe(events.length - (seq ?? 0));
});

describe('this version', () => {
  const folder = join(journals, `version-${JOURNAL_VERSION}`);
  const read = async (run: string) => collected(readEvents(realDisk, await copied(folder, run)));
  const fold = async (run: string) =>
    (await read(run)).reduce<Run | undefined>(codec.apply, undefined);

  test('has every kind of event', async () => {
    const found = new Set<string>();
    for (const run of runsOf(JOURNAL_VERSION))
      for (const { type } of await read(run)) found.add(type);
    const kinds = runEventSchema._zod.def.options.flatMap(
      ({ shape }) => shape.type._zod.def.values,
    );
    // Only runs in a database have queues. It takes an hour until a usage limit is lifted.
    expect(kinds.filter((kind) => !found.has(kind))).toEqual(['step-taken', 'usage-limit-lifted']);
  });

  test('worktrees have their fate, and joins report what to merge', async () => {
    const run = await fold('worktrees');
    const ended = [...(run?.endedAgents ?? [])].map(([id, { worktree }]) => [
      id,
      worktree && [worktree.fate, worktree.look?.commits, worktree.look?.dirty],
    ]);
    expect(Object.fromEntries(ended)).toEqual({
      main_work1: ['kept', 1, false],
      main_work2: ['kept', 0, true],
      main_work3: ['removed', 0, false],
      main_work4: ['kept', 0, false],
      main_work5: ['removed', 0, false],
      main_work6: ['removed', 0, false],
    });
    expect(run?.agents.get('main_work7')).toMatchObject({
      status: { kind: 'running' },
      worktree: { branch: 'raymond/worktrees/main_work7', wasSeen: false },
    });
    const [joined] = (await read('worktrees')).filter(({ type }) => type === 'join-reported');
    const rows: unknown = JSON.parse(joined?.type === 'join-reported' ? joined.input : '');
    expect(rows).toMatchObject([
      { branch: 'raymond/worktrees/done', commits: 1, dirty: false },
      { branch: 'raymond/worktrees/draft', commits: 0, dirty: true },
      { branch: null, commits: 0, dirty: false },
      { status: 'failed', branch: 'raymond/worktrees/failed', commits: 0, dirty: false },
    ]);
  });

  test('checks have their exit codes, and entries of a state can be compared', async () => {
    const events = await read('checks');
    const exits = events.flatMap((event) =>
      event.type === 'step-ended' && event.exit !== undefined ? [event.exit] : [],
    );
    expect(exits).toEqual([3, 0, 7, 7]);
    const entered = events.flatMap((event) =>
      event.type === 'state-entered' ? [event.digest] : [],
    );
    expect([entered.length, new Set(entered).size]).toEqual([3, 1]);
    const overridden = events.flatMap((event) =>
      event.type === 'transition-overridden' ? [event.by] : [],
    );
    expect(overridden).toEqual(['unchanged', 'ensures']);
    expect((await fold('checks'))?.result).toBe('stuck');
  });
});

describe('facts that version 1 did not record', () => {
  const read = async (run: string) =>
    collected(readEvents(realDisk, await copied(join(journals, 'version-1'), run)));

  test('the parent and the result of an agent that ended are in the events', async () => {
    const run = (await read('question')).reduce<Run | undefined>(codec.apply, undefined);
    expect(run?.endedAgents.get('main_worker1')).toMatchObject({
      parent: 'main',
      workflow: '/project/trouble',
      state: 'WORKER.sh',
      end: { kind: 'ended', result: 'größe "1"' },
    });
  });

  test('the cost of a step that answered is reported, and other costs may be estimates', async () => {
    const events: RunEvent[] = [...(await read('every-event')), ...(await read('agent'))];
    const ends = events.filter(isStepEnd);
    const kinds = ends.map(({ type, cost }) => `${type}: ${cost.usd > 0 ? cost.from : 'nothing'}`);
    expect(new Set(kinds)).toEqual(
      new Set([
        'step-ended: told',
        'step-failed: nothing',
        'step-failed: estimated',
        'step-interrupted: estimated',
      ]),
    );
    expect(ends.some((event) => 'costUsd' in event || 'goesOn' in event)).toBe(false);
  });

  test('the executor of a step stays unknown', async () => {
    const run = (await read('asked')).reduce<Run | undefined>(codec.apply, undefined);
    expect(run?.agents.get('main_work1')?.status).toMatchObject({
      kind: 'running',
      state: 'WORK.sh',
      executor: undefined,
      worker: undefined,
    });
    expect(run?.agents.get('main')?.status).toMatchObject({ question: 'Which colour?' });
  });
});

test('a newer journal is reported as newer, even with a snapshot', async () => {
  const path = await copied(join(journals, `version-${JOURNAL_VERSION}`), 'long');
  const [first = '', ...rest] = (await readFile(path, 'utf8')).split('\n');
  // The same length, so that the pointer still leads to the snapshot.
  const newer = first
    .replace(`"version":${JOURNAL_VERSION}`, `"version":${JOURNAL_VERSION + 1}`)
    .replace(/,"crc":"[0-9a-f]{8}"}$/, (crc) => '}'.padEnd(crc.length));
  const snapshots = rest.map((line) =>
    line.replace(
      `"type":"snapshot","version":${JOURNAL_VERSION}`,
      `"type":"snapshot","version":${JOURNAL_VERSION + 1}`,
    ),
  );
  await writeFile(path, [newer, ...snapshots].join('\n'));
  await expect(readRun(realDisk, path, codec)).rejects.toThrow('written by a newer Raymond');
});

const short = runsOf(1).filter((run) => run !== 'long');
test.each(short)('a damaged journal of version 1 is never reported as newer: %s', async (run) => {
  const path = await copied(join(journals, 'version-1'), run);
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1);
  for (const index of lines.keys()) {
    for (const damage of ['{"type":"agent-danced","at":1}', '{"type":"step-ended","at":1}', '{']) {
      await writeFile(path, `${lines.with(index, damage).join('\n')}\n`);
      const read = await readRun(realDisk, path, codec).then(() => '', String);
      expect(read).not.toContain('newer');
      // A last line may be torn, and is then cut off.
      if (index < lines.length - 1) expect(read).toContain(`Line ${index + 1} of the journal`);
    }
  }
});

test('a snapshot of this version is used, and one of an older version is not', async () => {
  const old = await copied(join(journals, 'version-1'), 'long');
  const events = await collected(readEvents(realDisk, old));
  const path = join(await temporaryFolder(), 'long.jsonl');
  const journal = await create(realDisk, path, codec);
  let run: Run | undefined;
  for (const { seq: _seq, ...event } of events) {
    run = codec.apply(run, event);
    await journal.append([event], run);
  }
  await journal.close();
  const [fromOld, fromNew] = [await foldedFrom(old), await foldedFrom(path)];
  expect(fromNew.run).toEqual(run);
  expect(fromOld.run).toEqual(run);
  expect(fromOld.folded).toBe(events.length);
  expect(fromNew.folded).toBeLessThan(events.length);
});

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

async function foldedFrom(path: string): Promise<{ run: Run; folded: number }> {
  let folded = 0;
  const counting: typeof codec = {
    ...codec,
    apply: (run, event) => {
      folded++;
      return codec.apply(run, event);
    },
  };
  return { run: (await readRun(realDisk, path, counting)).run, folded };
}
