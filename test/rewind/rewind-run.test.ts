import { expect, test } from 'vitest';
import { finishRestoring, type RewindPorts, rewindRun } from '../../src/host/rewind-run.ts';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import type { RunEvent } from '../../src/model/event.ts';
import { runCodec as codec } from '../../src/world/run-codec.ts';
import { sealedText } from '../../src/world/sealed-choices.ts';
import { makeRun } from '../make-run.ts';
import { MemoryRuns, memoryStore } from '../memory-store.ts';

const ID = 'flow-00000000';
const to = { kind: 'to', agent: 'main', step: 2 } as const;

/** A finished run of two scripts, in a store, and files that can be changed and fail. */
async function playedRun() {
  const stage = makeRun({ 'START.sh': [], 'N.sh': [] });
  stage.turn('<goto>N</goto>');
  stage.turn('<result>done</result>');
  stage.idle();
  const events = stage.events.flatMap((event): readonly RunEvent[] => {
    if (event.type === 'step-started')
      return [event, { ...event, type: 'files-recorded', tree: `before ${event.step}` }];
    return [event];
  });
  const started: RunEvent[] = events.map((event) =>
    event.type === 'files-recorded'
      ? { type: event.type, at: event.at, agent: event.agent, step: event.step, tree: event.tree }
      : event,
  );
  const runs = new MemoryRuns();
  const self = { pid: 1, started: '1', boot: '1', name: 'test', isHere: true };
  const store = memoryStore({ apply: codec.apply, sealedText, self, runs });
  const lease = await store.lease(ID);
  await lease.create(started, started.reduce(apply, newRun));
  await lease.release();
  const disk = { tree: 'now', fails: '' };
  const ports: RewindPorts = {
    store,
    clock: { now: () => stage.now, at: () => () => {} },
    worktrees: { make: () => ({ done: Promise.resolve(undefined), stop: () => {} }) },
    files: {
      rootOf: () => '/project',
      async record() {
        if (disk.fails === 'record') throw new Error('no space left');
        return disk.tree;
      },
      async restore(_, tree) {
        if (disk.fails === 'restore') throw new Error('no space left');
        disk.tree = tree;
      },
    },
  };
  const look = async () => {
    const found = await store.look(ID);
    if (found.kind === 'damaged') throw found.problem;
    return found.run;
  };
  return { store, ports, disk, look };
}

test('files and agents go back, and an undo brings both forth', async () => {
  const { ports, disk, look } = await playedRun();
  await rewindRun(ports, ID, to, { files: true });
  expect(disk.tree).toBe('before 2');
  expect(await look()).toMatchObject({ status: { outcome: 'interrupted' }, restoring: [] });
  await rewindRun(ports, ID, { kind: 'undo' }, { files: true });
  expect(disk.tree).toBe('now');
  expect(await look()).toMatchObject({ status: { outcome: 'completed' }, result: 'done' });
});

test('nothing changes if the files of now cannot be stored', async () => {
  const { ports, disk, look } = await playedRun();
  const before = await look();
  disk.fails = 'record';
  await expect(rewindRun(ports, ID, to, { files: true })).rejects.toThrow('no space left');
  expect(await look()).toEqual(before);
  await rewindRun(ports, ID, to, { files: false });
  expect(disk.tree).toBe('now');
});

test.each(['resume', 'rewind', 'undo'] as const)(
  'files that could not be restored come back with the next %s',
  async (how) => {
    const { ports, disk, look, store } = await playedRun();
    disk.fails = 'restore';
    await expect(rewindRun(ports, ID, to, { files: true })).rejects.toThrow('is rewound, but');
    expect((await look()).restoring).toEqual([
      { root: '/project', before: 'now', tree: 'before 2' },
    ]);
    disk.fails = '';
    if (how === 'resume') {
      const lease = await store.lease(ID);
      const { run, journal } = await lease.open();
      await finishRestoring(ports, run, journal);
      await journal.close();
      await lease.release();
      expect(disk.tree).toBe('before 2');
    } else if (how === 'rewind') {
      await rewindRun(ports, ID, { ...to, step: 1 }, { files: true });
      expect(disk.tree).toBe('before 1');
    } else {
      await rewindRun(ports, ID, { kind: 'undo' }, { files: true });
      expect(disk.tree).toBe('now');
    }
    expect((await look()).restoring).toEqual([]);
  },
);

test('files that can never come back are given up with --no-files', async () => {
  const { ports, disk, look } = await playedRun();
  disk.fails = 'restore';
  await expect(rewindRun(ports, ID, to, { files: true })).rejects.toThrow();
  await rewindRun(ports, ID, { kind: 'undo' }, { files: false });
  expect(await look()).toMatchObject({ status: { outcome: 'completed' }, restoring: [] });
});

test('it is refused while another process works on the run, and without consent', async () => {
  const { ports, store, look } = await playedRun();
  const before = await look();
  const lease = await store.lease(ID);
  await expect(rewindRun(ports, ID, to, { files: true })).rejects.toMatchObject({
    name: 'UserError',
  });
  await lease.release();
  const agree = () => Promise.reject(new Error('no'));
  await expect(rewindRun(ports, ID, to, { files: true, agree })).rejects.toThrow('no');
  expect(await look()).toEqual(before);
});
