/**
 * A journal is damaged in every way: each single bit is changed, and each line is removed, doubled
 * or moved. Either the damage is named, or it is at the very end and the result is an earlier state
 * of the run. The result is never another run.
 */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { throwawayChain } from '../../src/journal/chain.ts';
import { draftSnapshot, encodeDrafts, encodeEvents } from '../../src/journal/journal-format.ts';
import { readRun } from '../../src/journal/read-journal.ts';
import { salvage } from '../../src/journal/salvage.ts';
import type { RunEvent } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import { UserError } from '../../src/model/user-error.ts';
import { runCodec as codec } from '../../src/world/run-codec.ts';
import { isLong } from '../long.ts';
import { makeRun } from '../make-run.ts';
import { keyBeside } from './fixtures.ts';
import { MemoryDisk } from './memory-disk.ts';

const PATH = '/state/demo.jsonl';
const STATE = '/state/demo.json';

/** A run with two agents, a call, a snapshot between two appends, and an end. */
const appends = smallRun();
const runs = runsAfter(appends);
const runAfter = (count: number) => runs[count] ?? newRun;
const complete = runAfter(runs.length - 1);
const lines = journalLines();
const journal = Buffer.concat(lines);
const stateFile = Buffer.from(JSON.stringify(codec.freeze(complete)));

function smallRun(): readonly (readonly RunEvent[])[] {
  const stage = makeRun({
    START: ['<fork item="ä">WORK</fork><goto>NEXT</goto>'],
    NEXT: ['<call return="END">SUB</call>'],
    SUB: ['<result>sub</result>'],
    END: ['<result>done</result>'],
    WORK: ['<result>"worked"\n</result>'],
  });
  const [started] = stage.events;
  if (!started) throw new Error('A run begins with an event.');
  return [
    [started],
    stage.start(),
    stage.end('<fork item="ä">WORK</fork><goto>NEXT</goto>'),
    stage.start(),
    stage.start('main_work1'),
    stage.end('<call return="END">SUB</call>'),
    stage.end('<result>"worked"\n</result>', 'main_work1'),
    stage.stop('drain'),
    stage.idle(),
  ];
}

function runsAfter(all: readonly (readonly RunEvent[])[]): Run[] {
  const found = [newRun];
  for (const event of all.flat()) found.push(apply(found.at(-1) ?? newRun, event));
  return found;
}

function journalLines(): Buffer[] {
  const chain = throwawayChain();
  let seq = 0;
  const parts = appends.flatMap((events, index) => {
    const bytes = encodeEvents(events, seq + 1, chain);
    seq += events.length;
    const draft = index === 4 ? draftSnapshot(codec.freeze(runAfter(seq)), seq) : undefined;
    return draft ? [bytes, encodeDrafts([draft], chain)] : [bytes];
  });
  return linesOf(Buffer.concat(parts));
}

function linesOf(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf('\n', start) + 1;
    found.push(bytes.subarray(start, end));
    start = end;
  }
  return found;
}

interface Damage {
  readonly what: string;
  readonly bytes: Buffer;
  /** The line that must be named, counted from 1. */
  readonly line: number;
  /** The place of a snapshot matters less: it may be missing, or detected only after its events. */
  readonly isSnapshot: boolean;
}

const BITS = [0, 1, 2, 3, 4, 5, 6, 7];

/** In the suite one bit of every byte, otherwise all. */
function* flips(): Generator<Damage> {
  let line = 1;
  for (let offset = 0; offset < journal.length; offset++) {
    for (const bit of isLong ? BITS : [offset % 8]) {
      const bytes = Buffer.from(journal);
      bytes[offset] = (bytes[offset] ?? 0) ^ (1 << bit);
      yield { what: `bit ${bit} of byte ${offset}`, bytes, line, isSnapshot: false };
    }
    if (journal[offset] === 10) line++;
  }
}

function* lineChanges(): Generator<Damage> {
  for (const [index, line] of lines.entries()) {
    const [before, rest] = [lines.slice(0, index), lines.slice(index + 1)];
    const changed = (what: string, all: readonly Buffer[], named: number) => ({
      what: `line ${index + 1} ${what}`,
      bytes: Buffer.concat(all),
      line: named,
      isSnapshot: isSnapshot(line),
    });
    yield changed('removed', [...before, ...rest], index + 1);
    yield changed('doubled', [...before, line, line, ...rest], index + 2);
    for (const [step, other] of rest.entries()) {
      const between = rest.slice(0, step);
      const swapped = [...before, other, ...between, line, ...rest.slice(step + 1)];
      yield changed(`exchanged with line ${index + step + 2}`, swapped, index + 1);
      const moved = [...before, ...between, other, line, ...rest.slice(step + 1)];
      yield changed(`moved behind line ${index + step + 2}`, moved, index + 1);
    }
  }
}

const isSnapshot = (line: Buffer) => line.includes('"type":"snapshot"');

test('the journal is small, and has every kind of line', async () => {
  expect(journal.length).toBeLessThan(6000);
  expect(lines.filter(isSnapshot)).toHaveLength(1);
  expect(lines.some((line) => line.includes('"more":true'))).toBe(true);
  expect((await read(journal)).run).toEqual(complete);
});

describe.each([
  ['every byte', flips],
  ['every line', lineChanges],
])('damage of %s', (_what, damages) => {
  test('is named, or gives an earlier state of the run', async () => {
    const faults: string[] = [];
    const seen = { named: 0, cut: 0, same: 0 };
    for (const damage of damages()) {
      const { run, error } = await read(damage.bytes, { [STATE]: stateFile });
      let isFine = error ? isNamed(error, damage) : isDeepStrictEqual(run, complete);
      if (error?.code === 'journal-cut' || error?.code === 'journal-emptied') {
        // Without the state file, this looks like an append that a crash has torn.
        const alone = await read(damage.bytes);
        isFine = isDeepStrictEqual(alone.run, runAfter(alone.run?.seq ?? 0));
        seen.cut++;
      } else if (error) seen.named++;
      else seen.same++;
      if (!isFine) faults.push(`${damage.what}: ${error?.message ?? 'another run'}`);
    }
    expect(faults).toEqual([]);
    expect(seen.named).toBeGreaterThan(5 * (seen.cut + seen.same));
  }, 300_000);

  test('is salvaged to the state before it, if that is recommended', async () => {
    let tried = 0;
    for (const { what, bytes } of some(damages())) {
      const disk = new MemoryDisk({ [PATH]: bytes, [STATE]: stateFile });
      const { error } = await readFrom(disk);
      if (!error) continue;
      tried++;
      const isAdvised = error.remedy.includes('--salvage');
      const saved = await salvage(disk, PATH, codec, keyBeside(PATH)).catch(() => undefined);
      expect(saved !== undefined, `${what}: ${error.message}`).toBe(isAdvised);
      if (!saved) continue;
      const { run } = await readFrom(disk);
      expect(run?.seq, what).toBe(saved.seq);
      expect(run, what).toEqual(runAfter(saved.seq));
    }
    expect(tried).toBeGreaterThan(50);
  }, 300_000);
});

/**
 * If a line was joined with the next one, its own number is named. If it is missing, the next
 * number is named.
 */
function isNamed(error: UserError, { line, isSnapshot }: Damage): boolean {
  const [, named] = /^Line (\d+) of the journal \S+ is damaged: /.exec(error.message) ?? [];
  return isSnapshot ? named !== undefined : Number(named) === line;
}

/** Enough damages to reach every line in every way, in less time. */
function* some(damages: Iterable<Damage>): Generator<Damage> {
  let count = 0;
  for (const damage of damages)
    if (!damage.what.startsWith('bit') || count++ % (isLong ? 61 : 23) === 0) yield damage;
}

test('every cut gives an earlier state of the run, and is named if the state file has more events', async () => {
  const faults: string[] = [];
  for (let length = 0; length < journal.length; length++) {
    const bytes = journal.subarray(0, length);
    const { run, error } = await read(bytes);
    const told = await read(bytes, { [STATE]: stateFile });
    const isFine = run
      ? isDeepStrictEqual(run, runAfter(run.seq))
      : error?.code === 'journal-empty';
    if (!isFine || !/^journal-(cut|emptied)$/.test(told.error?.code ?? ''))
      faults.push(`${length} bytes: ${told.error?.message ?? 'not named'}`);
  }
  expect(faults).toEqual([]);
}, 300_000);

function read(bytes: Buffer, more: Readonly<Record<string, Buffer>> = {}) {
  return readFrom(new MemoryDisk({ [PATH]: bytes, ...more }));
}

async function readFrom(disk: MemoryDisk): Promise<{ run?: Run; error?: UserError }> {
  try {
    return { run: (await readRun(disk, PATH, codec)).run };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { error };
  }
}
