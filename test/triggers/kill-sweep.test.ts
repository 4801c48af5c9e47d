/**
 * A process is killed before each operation of its disk, and before and after each start of a run. The next one
 * finds every occasion, and starts each once.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Disk } from '../../src/journal/disk.ts';
import type { Trigger } from '../../src/model/trigger.ts';
import { guarded, hastyDisk } from '../journal/door.ts';
import { temporaryFolder } from '../journal/fixtures.ts';
import { isLong } from '../long.ts';
import { Stage } from './stage.ts';

const MINUTE = 60_000;

const STRIDE = isLong ? 1 : 9;

class Killed extends Error {}

/** After the n-th operation nothing works any more, as after kill -9. */
function mortal(stage: Stage, n: number): { readonly disk: Disk; readonly died: () => boolean } {
  let left = n;
  const tick = () => {
    if (--left <= 0) throw new Killed();
  };
  stage.moment = tick;
  const disk = guarded(hastyDisk, () => {
    tick();
    return undefined;
  });
  return { disk, died: () => left <= 0 };
}

type Process = ReturnType<Stage['process']>;

/** What happens while a process lives. Each is repeated by the next process if it was killed in between. */
interface Play {
  readonly trigger: Trigger;
  prepare?(stage: Stage): Promise<void>;
  live(stage: Stage, process: Process): Promise<void>;
  /** How many runs there must be at the end. */
  readonly runs: number;
  /** How many occasions, with those that started none. */
  readonly occasions: number;
}

const PLAYS: Readonly<Record<string, Play>> = {
  'a schedule that queues': {
    trigger: { kind: 'schedule', schedule: '* * * * *', overlap: 'queue', missed: 'all' },
    async live(stage, { turn }) {
      for (const minute of [0, 1, 2, 3]) {
        stage.now = Math.max(stage.now, START + minute * MINUTE);
        await turn();
        stage.finish();
        await turn();
      }
    },
    ...{ runs: 3, occasions: 3 },
  },
  'a schedule that skips': {
    trigger: { kind: 'schedule', schedule: '* * * * *', overlap: 'skip', missed: 'once' },
    async live(stage, { turn }) {
      for (const minute of [0, 1, 2]) {
        stage.now = Math.max(stage.now, START + minute * MINUTE);
        await turn();
      }
      stage.finish();
      await turn();
    },
    ...{ runs: 1, occasions: 2 },
  },
  'deliveries that replace each other': {
    trigger: { kind: 'webhook', name: 'in', match: {}, overlap: 'replace' },
    async live(stage, { turn, deliver }) {
      await deliver('a');
      await turn();
      stage.now += 1;
      await deliver('b');
      await turn();
      stage.finish();
      await turn();
    },
    ...{ runs: 2, occasions: 2 },
  },
  files: {
    trigger: { kind: 'files', pattern: 'inbox/*', overlap: 'queue' },
    async prepare({ project }) {
      await mkdir(join(project, 'inbox'));
      for (const name of ['a', 'b']) await writeFile(join(project, 'inbox', name), name);
    },
    async live(stage, { turn }) {
      for (let look = 0; look < 4; look++) {
        await turn();
        stage.now += 1_000;
        await turn();
        stage.finish();
      }
      await turn();
    },
    ...{ runs: 2, occasions: 2 },
  },
};

const START = Date.parse('2026-05-01T00:00:00Z');

describe.each(Object.entries(PLAYS))('%s', (_name, play) => {
  test('killed at every operation, each occasion has one run or a reason', async () => {
    let isKilled = true;
    let k = 0;
    while (isKilled) {
      // The sweep of the suite leaves most operations to the long one, in which each is the last one once.
      k += STRIDE;
      const stage = new Stage(await temporaryFolder(), play.trigger);
      await play.prepare?.(stage);
      const { disk, died } = mortal(stage, k);
      await play.live(stage, stage.process(disk, 1)).catch((error) => {
        if (!died()) throw error;
      });
      isKilled = died();
      stage.moment = () => {};
      await play.live(stage, stage.process(hastyDisk, 2));
      const runs = stage.starts.map(({ run }) => run);
      expect(new Set(runs).size, `operation ${k}`).toBe(runs.length);
      const records = await stage.records();
      const open = records.filter(({ outcome }) => ['due', 'started'].includes(outcome.kind));
      expect(open, `operation ${k}`).toEqual([]);
      const counted = records.reduce(
        (sum, { outcome }) => sum + ((outcome.kind === 'skipped' && outcome.times) || 1),
        0,
      );
      expect(counted, `operation ${k}`).toBe(play.occasions);
      // A kill may let a time be skipped that would have started, but then the ledger says why.
      const over = records.filter(({ outcome }) => outcome.kind === 'over');
      expect(over.length, `operation ${k}`).toBe(runs.length);
      if (!isKilled) expect(runs).toHaveLength(play.runs);
      if (play.trigger.kind !== 'files') continue;
      expect((await readdir(join(stage.project, 'inbox', 'done'))).sort()).toEqual(['a', 'b']);
    }
    expect(k).toBeGreaterThan(50);
  });
});

test('two processes at once start each occasion once', async () => {
  const stage = new Stage(await temporaryFolder(), {
    ...{ kind: 'webhook', name: 'in', match: {}, overlap: 'queue' },
  });
  const both = [stage.process(hastyDisk, 1), stage.process(hastyDisk, 2)];
  // Both are alive, so neither takes the lock of the other.
  stage.alive = [1, 2];
  for (let round = 0; round < 20; round++) {
    stage.now += 1;
    await Promise.all(
      both.flatMap(({ deliver, turn }) => [deliver(`d${round}`).then(turn), turn()]),
    );
    for (const { run } of stage.starts) stage.finish(run);
  }
  for (let round = 0; round < 20; round++) {
    await Promise.all(both.map(({ turn }) => turn()));
    for (const { run } of stage.starts) stage.finish(run);
  }
  const runs = stage.starts.map(({ run }) => run);
  expect(runs).toHaveLength(20);
  expect(new Set(runs).size).toBe(20);
});
