import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { realDisk } from '../../src/journal/disk.ts';
import type { RunCodec } from '../../src/journal/file-journal.ts';
import { fileRuns } from '../../src/journal/file-runs.ts';
import { fileStore } from '../../src/journal/file-store.ts';
import { freeze } from '../../src/journal/freeze-run.ts';
import { BEAT_MS, STALE_MS } from '../../src/journal/lock-owner.ts';
import { findProject, makeProject, runPaths } from '../../src/journal/project.ts';
import { thaw } from '../../src/journal/thaw-run.ts';
import { userKey } from '../../src/journal/user-key.ts';
import type { Now } from '../../src/model/now.ts';
import type { Run } from '../../src/model/run.ts';
import type {
  ChosenRun,
  Clock,
  Lease,
  OwnedJournal,
  RunStore,
  SurveyedRun,
} from '../../src/ports.ts';
import { started, temporaryFolder } from '../journal/fixtures.ts';
import { MemoryRuns, memoryStore } from '../memory-store.ts';
import { CHECKS, type StoreUnderTest } from './run-store.ts';

const codec: RunCodec<Run> = {
  apply: (run, event) => apply(run ?? newRun, event),
  freeze,
  thaw(json) {
    const run = thaw(json);
    if (!run) throw new Error('not a run');
    return run;
  },
};
const sealedText = ({ id, settings }: ChosenRun) => JSON.stringify([id, settings.budgetUsd]);

/** Two processes in two containers. Each detects the other only by its heartbeats. */
async function files(): Promise<StoreUnderTest> {
  const folder = await temporaryFolder();
  const project = await findProject(realDisk, folder, folder, `${folder}/user`);
  await makeProject(realDisk, project);
  let now = Date.now();
  /** The time at which the first process was suspended, if it is. */
  let suspended: number | undefined;
  const clocks: Readonly<Record<'one' | 'two', Clock>> = {
    one: { now: () => suspended ?? now, at: () => () => {} },
    two: {
      now: () => now,
      // It waits only to see whether the first process lives.
      at(time, callback) {
        if (suspended === undefined || time - now <= BEAT_MS) return () => {};
        now = time;
        setImmediate(callback);
        return () => {};
      },
    },
  };
  const processIn = (space: 'one' | 'two', pid: number) => {
    const clock = clocks[space];
    const key = userKey(realDisk, join(folder, 'user', 'key'));
    const parts = { disk: realDisk, project, key };
    const lockWorld = () => ({
      self: { pid, started: '1', boot: 'b', space, host: space },
      clock,
      isAlive: () => true,
      report: () => {},
    });
    const runs = async () => fileRuns({ ...parts, codec, lockWorld, lookEveryMs: 20 });
    return fileStore({ ...parts, clock, runs });
  };
  const other = processIn('two', 2);
  return {
    store: processIn('one', 1),
    other: {
      ...other,
      async lease(id) {
        const lease = await other.lease(id);
        suspended = undefined;
        return lease;
      },
    },
    fallSilent() {
      suspended = now;
      now += STALE_MS + 1;
    },
    async keepRecord({ agent, step }, name, content) {
      const place = runPaths(project, started.run).folders.step(agent, step);
      await mkdir(place, { recursive: true });
      await writeFile(join(place, name), content);
    },
  };
}

async function memory(runs = new MemoryRuns()): Promise<StoreUnderTest> {
  const processOf = (pid: number) => {
    const self = { pid, started: '1', boot: 'b', name: `process ${pid}`, isHere: true };
    return memoryStore({ apply: codec.apply, sealedText, self, runs });
  };
  return {
    store: processOf(1),
    other: processOf(2),
    fallSilent: () => runs.expire(started.run),
    keepRecord: async (...record) => runs.keepRecord(started.run, ...record),
  };
}

describe.each([
  ['files', files],
  ['memory', () => memory()],
])('a store in %s', (_, make) => {
  test.each(CHECKS)('$name', async ({ holds }) => holds(await make()));
});

/** Each breaks one rule. The list names the checks that detect it. */
const BROKEN: readonly [string, (store: RunStore) => RunStore, readonly string[]][] = [
  [
    'loses an append',
    withJournal((journal) => {
      let appends = 0;
      return {
        ...journal,
        append: async (events, after) => {
          if (++appends !== 1) await journal.append(events, after);
        },
      };
    }),
    [
      'when an append resolves, its events can be read',
      'concurrent appends keep their order',
      'an append that expects an earlier position is refused, and changes nothing',
      'an append that expects a later position is refused, and changes nothing',
      'the next process continues a run at its end',
      'a lease that another process took over changes nothing',
      'events are read after a position, with their numbers',
      'a watcher gets the existing events and then the new ones, each once and in order',
      'a watcher continues when the owner changes',
      'a run stays its owner’s own after choices that were sealed',
      'a look gives the history on request: each event, with the run before and after it',
    ],
  ],
  [
    'accepts a stale position',
    withJournal((journal) => {
      let seq = 1;
      return {
        ...journal,
        append: (events, after) => {
          seq += events.length;
          return journal.append(events, { ...after, seq });
        },
      };
    }),
    [
      'an append that expects an earlier position is refused, and changes nothing',
      'an append that expects a later position is refused, and changes nothing',
      'the next process continues a run at its end',
    ],
  ],
  [
    'delivers messages in another order',
    (store) => ({
      ...store,
      mailbox: (id) => {
        const mailbox = store.mailbox(id);
        const messages = async () => (await mailbox.messages()).toReversed();
        return {
          ...mailbox,
          messages,
          async read(reader) {
            const held: (() => void)[] = [];
            let isHolding = true;
            const reading = await mailbox.read({
              ...reader,
              onMessage: (message, done) => {
                if (isHolding) held.push(() => reader.onMessage(message, done));
                else reader.onMessage(message, done);
              },
            });
            isHolding = false;
            for (const deliver of held.toReversed()) deliver();
            return reading;
          },
        };
      },
    }),
    [
      'messages are stored, and read in the order of their posting',
      'a message stays for the next reader until it is done',
      'a question has one answer: the first',
    ],
  ],
  [
    'forgets a message when it is read',
    (store) => ({
      ...store,
      mailbox: (id) => {
        const mailbox = store.mailbox(id);
        return {
          ...mailbox,
          read: (reader) =>
            mailbox.read({
              ...reader,
              onMessage(message, done) {
                void done();
                reader.onMessage(message, done);
              },
            }),
        };
      },
    }),
    ['a message stays for the next reader until it is done'],
  ],
  [
    'takes a second answer',
    (store) => ({
      ...store,
      mailbox: (id) => {
        const mailbox = store.mailbox(id);
        return { ...mailbox, post: async (message) => (await mailbox.post(message)) || true };
      },
    }),
    ['a question has one answer: the first'],
  ],
  [
    'skips an event when it watches',
    withWatch(async function* (events) {
      for await (const event of events) if (event.seq !== 5) yield event;
    }),
    ['a watcher gets the existing events and then the new ones, each once and in order'],
  ],
  [
    'gives an event twice when it watches',
    withWatch(async function* (events) {
      for await (const event of events) {
        yield event;
        if (event.seq === 5) yield event;
      }
    }),
    ['a watcher gets the existing events and then the new ones, each once and in order'],
  ],
  [
    'watches from the beginning, whatever the position',
    (store) => ({ ...store, watch: (id, _after, signal) => store.watch(id, 0, signal) }),
    ['a watcher gets the existing events and then the new ones, each once and in order'],
  ],
  [
    'has one cache for all names',
    (store) => ({ ...store, cache: () => store.cache('any') }),
    ['a cache has the last text of any process, and no text of another cache'],
  ],
  [
    'does not notice that a run has changed since its last survey',
    (store) => {
      const known = new Map<string, SurveyedRun>();
      const survey = async () =>
        (await store.survey()).map((found) => {
          const kept = known.get(found.id) ?? found;
          known.set(found.id, kept);
          return kept;
        });
      return { ...store, survey };
    },
    ['a survey gives every run as a look at it does, also after changes'],
  ],
  [
    'still shows what an earlier owner published',
    (store) => {
      let last: Now | undefined;
      const now = async (id: string) => {
        last = (await store.now(id)) ?? last;
        return last;
      };
      return { ...store, now };
    },
    ['a publication ends with the lease of its owner'],
  ],
];

test.each(BROKEN)('the checks detect a store that %s', async (_, broken, expected) => {
  expect(await failing(broken)).toEqual(expected);
});

test('the checks detect a store that does not fence a lost lease', async () => {
  expect(await failing(same, () => memory(new UnfencedRuns()))).toEqual([
    'a lease that another process took over changes nothing',
    'a publication ends with the lease of its owner',
  ]);
});

const same = (store: RunStore) => store;

/** A holder of a lease sees it as valid for ever. */
class UnfencedRuns extends MemoryRuns {
  override of(id: string) {
    const kept = super.of(id);
    let taken: unknown;
    return new Proxy(kept, {
      get: (target, name) => (name === 'lease' && taken) || Reflect.get(target, name),
      set(target, name, value) {
        if (name === 'lease') taken = value;
        return Reflect.set(target, name, value);
      },
    });
  }
}

async function failing(
  broken: (store: RunStore) => RunStore,
  make = () => memory(),
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name, holds } of CHECKS) {
    const { store, other, ...more } = await make();
    const isKept = await holds({ store: broken(store), other: broken(other), ...more }).then(
      () => true,
      () => false,
    );
    if (!isKept) names.push(name);
  }
  return names;
}

function withJournal(change: (journal: OwnedJournal) => OwnedJournal) {
  return (store: RunStore): RunStore => ({
    ...store,
    async lease(id): Promise<Lease> {
      const lease = await store.lease(id);
      return {
        ...lease,
        async create(...begun) {
          const created = await lease.create(...begun);
          return { ...created, journal: change(created.journal) };
        },
        async open() {
          const opened = await lease.open();
          return { ...opened, journal: change(opened.journal) };
        },
      };
    },
  });
}

function withWatch(
  change: (events: ReturnType<RunStore['watch']>) => ReturnType<RunStore['watch']>,
) {
  return (store: RunStore): RunStore => ({
    ...store,
    watch: (id, after, signal) => change(store.watch(id, after, signal)),
  });
}
