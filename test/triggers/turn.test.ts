/** What a turn of a trigger records and starts, with a clock and runs of the test. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Missed, Overlap, Trigger } from '../../src/model/trigger.ts';
import { UserError } from '../../src/model/user-error.ts';
import { temporaryFolder } from '../journal/fixtures.ts';
import { Stage } from './stage.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const hourly = (overlap: Overlap = 'skip', missed: Missed = 'once'): Trigger => ({
  ...{ kind: 'schedule', schedule: '0 * * * *', timezone: 'UTC' },
  ...{ overlap, missed },
});
const hook = (overlap: Overlap = 'queue'): Trigger => ({
  ...{ kind: 'webhook', name: 'in', secret: 'S', match: {} },
  overlap,
});

const stageOf = async (trigger: Trigger) => new Stage(await temporaryFolder(), trigger);

describe('a schedule', () => {
  test('nothing is due when it is kept for the first time, and then each time once', async () => {
    const stage = await stageOf(hourly());
    const { turn } = stage.process();
    expect((await turn()).next).toBe(stage.now + HOUR);
    stage.now += HOUR;
    await turn();
    await turn();
    expect(stage.starts).toHaveLength(1);
    stage.finish();
    stage.now += 30 * MINUTE;
    await turn();
    expect(await stage.outcomes()).toEqual(['over']);
    stage.now += 30 * MINUTE;
    await turn();
    expect(stage.starts).toHaveLength(2);
  });

  test('a clock that is set back fires no time twice, and continues at once', async () => {
    const stage = await stageOf(hourly());
    await stage.process().turn();
    for (let hour = 0; hour < 3; hour++) {
      stage.now += HOUR;
      await stage.process().turn();
      stage.finish();
    }
    const begun = stage.now;
    stage.now -= 2 * HOUR + 10 * MINUTE;
    for (; stage.now <= begun + HOUR; stage.now += 10 * MINUTE) {
      await stage.process().turn();
      stage.finish();
    }
    expect(stage.starts).toHaveLength(4);
    expect(new Set(stage.starts.map(({ run }) => run)).size).toBe(4);
  });

  test('a clock that is set forward by a year and back again neither doubles nor rests', async () => {
    const stage = await stageOf(hourly());
    await stage.process().turn();
    stage.now += 365 * 24 * HOUR;
    await stage.process().turn();
    stage.finish();
    expect(stage.starts).toHaveLength(1);
    stage.now -= 364 * 24 * HOUR;
    await stage.process().turn();
    stage.finish();
    stage.now += HOUR;
    await stage.process().turn();
    expect(stage.starts.length).toBeGreaterThanOrEqual(2);
    expect(new Set(stage.starts.map(({ run }) => run)).size).toBe(stage.starts.length);
  });

  test('a year of Sundays starts one run each, also when clocks are set forward and back', async () => {
    const weekly = { ...hourly(), schedule: '30 2 * * 0', timezone: 'Europe/Berlin' } as const;
    const stage = await stageOf(weekly);
    const { turn } = stage.process();
    const end = stage.now + 364 * 24 * HOUR;
    for (let next: number | undefined = stage.now; next !== undefined && next < end; ) {
      stage.now = next;
      ({ next } = await turn());
      stage.finish();
    }
    expect(stage.starts).toHaveLength(52);
  });

  test.each<[Missed, starts: number, skipped: number]>([
    ['once', 1, 9],
    ['skip', 0, 10],
    ['all', 1, 0],
  ])('missed: %s after a sleep of ten hours', async (missed, starts, skipped) => {
    const stage = await stageOf(hourly('skip', missed));
    const { turn } = stage.process();
    await turn();
    stage.now += 10 * HOUR + 5 * MINUTE;
    await turn();
    expect(stage.starts).toHaveLength(starts);
    const times = (await stage.records()).flatMap(({ outcome }) =>
      outcome.kind === 'skipped' ? (outcome.times ?? 1) : [],
    );
    expect(times.reduce((a, b) => a + b, 0)).toBe(skipped);
    if (missed !== 'all') return;
    // They start one after the other, although overlap is skip.
    for (let run = 0; run < 9; run++) {
      stage.finish();
      await turn();
    }
    expect(stage.starts).toHaveLength(10);
  });
});

describe('overlap', () => {
  test('skip: names the run that is not over', async () => {
    const stage = await stageOf(hourly('skip'));
    const { turn } = stage.process();
    await turn();
    for (let hour = 0; hour < 3; hour++) {
      stage.now += HOUR;
      await turn();
    }
    const [first] = stage.starts;
    expect(stage.starts).toHaveLength(1);
    expect(await stage.outcomes()).toEqual(['started', 'skipped', 'skipped']);
    expect((await stage.records())[0]?.outcome).toMatchObject({
      why: `the run ${first?.run} is not over`,
    });
  });

  test('queue: one after the other, and the queue is bounded', async () => {
    const stage = await stageOf(hourly('queue'));
    const { turn } = stage.process();
    await turn();
    for (let hour = 0; hour < 13; hour++) {
      stage.now += HOUR;
      await turn();
    }
    expect(stage.starts).toHaveLength(1);
    const outcomes = await stage.outcomes();
    expect(outcomes.filter((one) => one === 'due')).toHaveLength(10);
    expect(outcomes.filter((one) => one === 'skipped')).toHaveLength(2);
    stage.finish();
    await turn();
    expect(stage.starts).toHaveLength(2);
  });

  test('replace: stops the old run and starts the newest', async () => {
    const stage = await stageOf(hook('replace'));
    const { turn, deliver } = stage.process();
    await deliver('a');
    await turn();
    stage.now += 1;
    await deliver('b');
    stage.now += 1;
    await deliver('c', '"c"');
    await turn();
    expect(stage.stopped).toEqual([stage.starts[0]?.run]);
    expect(stage.starts.at(-1)?.input).toBe('"c"');
    expect(await stage.outcomes()).toEqual(['over', 'skipped', 'started']);
  });
});

describe('a delivery', () => {
  test('that comes twice starts one run, with its payload', async () => {
    const stage = await stageOf(hook());
    const { turn, deliver } = stage.process();
    expect(await deliver('a', '{"x":1}')).toBe('recorded');
    expect(await deliver('a', '{"x":2}')).toBe('known');
    await turn();
    stage.finish();
    await turn();
    expect(await deliver('a')).toBe('known');
    await turn();
    expect(stage.starts.map(({ input }) => input)).toEqual(['{"x":1}']);
  });

  test('whose run cannot start is refused, with the reason', async () => {
    const stage = await stageOf(hook());
    stage.refusal = new UserError('faulty', 'The workflow has errors.', 'Fix them.');
    const { turn, deliver } = stage.process();
    await deliver('a');
    await turn();
    expect((await stage.records())[0]?.outcome).toMatchObject({
      ...{ kind: 'refused', why: 'The workflow has errors.' },
    });
  });

  test('is tried again if the process of its run died, but not forever', async () => {
    const stage = await stageOf(hook());
    stage.refusal = new UserError('process-died', 'It died.', '');
    const { turn, deliver } = stage.process();
    await deliver('a');
    expect((await turn()).next).toBe(stage.now + 5_000);
    await turn();
    expect(await stage.outcomes()).toEqual(['due']);
    await turn();
    expect(await stage.outcomes()).toEqual(['refused']);
  });

  test('waits while a process that outlived its starter may begin its run', async () => {
    const stage = await stageOf(hook());
    const { turn, deliver } = stage.process();
    await deliver('a');
    const [record] = await stage.records();
    const run = record?.occasion.run ?? '';
    stage.standings.set(run, 'beginning');
    expect((await turn()).next).toBe(stage.now + 5_000);
    expect(await stage.outcomes()).toEqual(['due']);
    stage.standings.delete(run);
    // It holds the run only for a moment, and ends without an event.
    stage.refusal = new UserError('run-locked', 'A process works on it.', '');
    for (let time = 0; time < 5; time++) await turn();
    expect(await stage.outcomes()).toEqual(['due']);
    stage.refusal = undefined;
    await turn();
    expect(stage.starts).toHaveLength(1);
    expect(await stage.outcomes()).toEqual(['started']);
  });

  test('waits while its trigger is not approved', async () => {
    const stage = await stageOf(hook());
    const { turn, deliver } = stage.process();
    await deliver('a');
    stage.isCurrent = false;
    await turn();
    expect(stage.starts).toEqual([]);
    expect(await stage.outcomes()).toEqual(['due']);
  });
});

test('a run that has crashed is resumed, and is not over', async () => {
  const stage = await stageOf(hook());
  const { turn, deliver } = stage.process();
  await deliver('a');
  await turn();
  const run = stage.starts[0]?.run ?? '';
  stage.standings.set(run, 'crashed');
  await turn();
  expect(stage.resumed).toEqual([run]);
  expect(await stage.outcomes()).toEqual(['started']);
});

describe('files', () => {
  const FILES: Trigger = { kind: 'files', pattern: 'in box/*.md', overlap: 'queue' };

  async function withInbox() {
    const stage = await stageOf(FILES);
    await mkdir(join(stage.project, 'in box'));
    const { turn } = stage.process();
    return {
      stage,
      put: (name: string, text = name) => writeFile(join(stage.project, 'in box', name), text),
      /** Two looks, so that files are stable at the second one. */
      async turns() {
        await turn();
        stage.now += 1_000;
        return turn();
      },
      turn,
      names: async (folder = '') =>
        (await readdir(join(stage.project, 'in box', folder), { withFileTypes: true }))
          .filter((entry) => !entry.isDirectory())
          .map(({ name }) => name),
    };
  }

  test('each starts one run after the other, and is moved when its run is over', async () => {
    const { stage, put, turns, names } = await withInbox();
    await put('a.md');
    await put('ä b.md');
    await put('other.txt');
    await put('.hidden.md');
    await turns();
    expect(stage.starts.map(({ input }) => input)).toEqual(['in box/a.md']);
    expect(await names()).toContain('a.md');
    stage.finish();
    await turns();
    expect(stage.starts.at(-1)?.input).toBe('in box/ä b.md');
    stage.finish(undefined, 'failed');
    await turns();
    expect(await names('done')).toEqual(['a.md']);
    expect(await names('failed')).toEqual(['ä b.md']);
    expect((await names()).sort()).toEqual(['.hidden.md', 'other.txt']);
    expect(stage.starts).toHaveLength(2);
  });

  test('a file is taken that comes after many looks at an empty folder', async () => {
    const { stage, put, turns } = await withInbox();
    const long = new Date('2026-01-01');
    await utimes(join(stage.project, 'in box'), long, long);
    for (let look = 0; look < 5; look++) await turns();
    await put('a.md');
    await turns();
    expect(stage.starts.map(({ input }) => input)).toEqual(['in box/a.md']);
  });

  test('a file that is being written is not taken', async () => {
    const { stage, put, turn } = await withInbox();
    for (let part = 1; part < 5; part++) {
      await put('a.md', 'x'.repeat(part));
      const { next } = await turn();
      expect(next).toBe(stage.now + 1_000);
      stage.now += 1_000;
    }
    expect(stage.starts).toEqual([]);
    await turn();
    expect(stage.starts).toHaveLength(1);
  });

  test('the same name again is another file, and both are kept', async () => {
    const { stage, put, turns, names } = await withInbox();
    for (let time = 0; time < 2; time++) {
      await put('a.md', 'same text');
      await turns();
      stage.finish();
      await turns();
    }
    expect(stage.starts).toHaveLength(2);
    expect((await names('done')).sort()).toEqual(['a-2.md', 'a.md']);
  });

  test('a file that its run changes is moved, and does not start another run', async () => {
    const { stage, put, turns, names } = await withInbox();
    await put('a.md');
    await turns();
    await put('a.md', 'changed by the run');
    await turns();
    stage.finish();
    await turns();
    await turns();
    expect(stage.starts).toHaveLength(1);
    expect(await names('done')).toEqual(['a.md']);
  });

  test('links are refused once and stay, also to files outside of the project', async () => {
    const { stage, turns, put, names } = await withInbox();
    const outside = join(await temporaryFolder(), 'secret');
    await writeFile(outside, 'x');
    await symlink(outside, join(stage.project, 'in box', 'soft.md'));
    await link(outside, join(stage.project, 'in box', 'hard.md'));
    await put('bad\nname.md');
    await turns();
    await turns();
    expect(stage.starts).toEqual([]);
    expect(await stage.outcomes()).toEqual(['refused', 'refused', 'refused']);
    expect((await names()).sort()).toEqual(['bad\nname.md', 'hard.md', 'soft.md']);
  });

  test.each(['out of the project', 'inside of the project'])(
    'a folder that is a link %s has no files',
    async (where) => {
      const stage = await stageOf(FILES);
      const target =
        where === 'out of the project' ? await temporaryFolder() : join(stage.project, 'other');
      await mkdir(target, { recursive: true });
      await writeFile(join(target, 'a.md'), 'x');
      await symlink(target, join(stage.project, 'in box'));
      const { turn } = stage.process();
      await turn();
      stage.now += 1_000;
      await turn();
      expect(stage.starts).toEqual([]);
      expect(stage.logged).toEqual([
        'flow (files in box/*.md): in box is reached through a link, so its files start nothing',
      ]);
      expect(await readdir(target)).toEqual(['a.md']);
    },
  );

  test('a file is taken from among many that do not fit', async () => {
    const { stage, put, turns } = await withInbox();
    for (let batch = 0; batch < 100; batch++)
      await Promise.all(Array.from({ length: 101 }, (_, n) => put(`${batch}-${n}.txt`)));
    await put('z.md');
    await turns();
    expect(stage.starts.map(({ input }) => input)).toEqual(['in box/z.md']);
  });

  test('a clock that is set back by a year does not keep files from being taken', async () => {
    const { stage, put, turns, turn } = await withInbox();
    await put('a.md');
    await turn();
    stage.now -= 365 * 24 * HOUR;
    await turns();
    expect(stage.starts.map(({ input }) => input)).toEqual(['in box/a.md']);
  });

  test('a pipe, a socket and a device start nothing, and nobody waits for them', async () => {
    const { stage, put, turns } = await withInbox();
    const box = join(stage.project, 'in box');
    execFileSync('mkfifo', [join(box, 'a pipe.md')]);
    const server = createServer().listen(join(box, 'b socket.md'));
    await once(server, 'listening');
    await symlink('/dev/zero', join(box, 'c device.md'));
    await put('d.md');
    await turns();
    server.close();
    expect(stage.starts.map(({ input }) => input)).toEqual(['in box/d.md']);
    expect(await stage.outcomes()).toEqual(['refused', 'refused', 'refused', 'started']);
  });

  test('a file is not moved through a link that the run has created', async () => {
    const { stage, put, turns, names } = await withInbox();
    const outside = await temporaryFolder();
    await put('a.md');
    await turns();
    await symlink(outside, join(stage.project, 'in box', 'done'));
    stage.finish();
    await turns();
    expect(await readdir(outside)).toEqual([]);
    expect(await names()).toContain('a.md');
    await rename(join(stage.project, 'in box', 'done'), join(stage.project, 'gone'));
  });
});
