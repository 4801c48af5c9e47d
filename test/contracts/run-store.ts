/**
 * The rules for every store of runs, as named checks. Each check makes a store, and throws when the
 * store breaks the rule. So a test can also find out which checks detect a broken store.
 */
import assert from 'node:assert/strict';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import type { RunEvent } from '../../src/model/event.ts';
import type { Message } from '../../src/model/message.ts';
import type { Now } from '../../src/model/now.ts';
import { PositionConflict } from '../../src/model/position-conflict.ts';
import type { Run } from '../../src/model/run.ts';
import { RunLost } from '../../src/model/run-lost.ts';
import { summaryOf } from '../../src/model/run-summary.ts';
import { UserError } from '../../src/model/user-error.ts';
import type { Lease, RecordName, RunStore, StepKey } from '../../src/ports.ts';
import { started } from '../journal/fixtures.ts';

export interface StoreUnderTest {
  readonly store: RunStore;
  /** Another process with the same runs. */
  readonly other: RunStore;
  /**
   * The process of `store` sends no heartbeat for so long that other processes can take its
   * leases.
   */
  fallSilent(): void;
  /** What an executor or a worker leaves of a step of the run. */
  keepRecord(step: StepKey, name: RecordName, content: Uint8Array): Promise<void>;
}

export interface Check {
  readonly name: string;
  readonly holds: (under: StoreUnderTest) => Promise<void>;
}

const ID = started.run;

export const CHECKS: readonly Check[] = [
  {
    name: 'after its first append, every process finds the run',
    async holds({ store, other }) {
      assert.deepEqual(await store.list(), []);
      const lease = await store.lease(ID);
      assert.deepEqual(await other.list(), []);
      await begin(lease);
      assert.deepEqual(await other.list(), [ID]);
      const found = await other.look(ID);
      assert(found.kind === 'stored');
      assert.equal(found.run.id, ID);
      assert.equal(found.run.seq, 1);
      await lease.release();
    },
  },
  {
    name: 'when an append resolves, its events can be read',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const { append } = await begin(lease);
      await append(woke(2), woke(3));
      assert.deepEqual(await eventsOf(other), [started, woke(2), woke(3)]);
      await append(answered('ä "quoted"\nline 😀'));
      assert.deepEqual((await eventsOf(other)).at(-1), answered('ä "quoted"\nline 😀'));
      await lease.release();
    },
  },
  {
    name: 'concurrent appends keep their order',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const { append } = await begin(lease);
      const more = Array.from({ length: 50 }, (_, n) => woke(n));
      await Promise.all(more.map((event) => append(event)));
      assert.deepEqual(await eventsOf(other), [started, ...more]);
      await lease.release();
    },
  },
  {
    name: 'later changes to the list of a caller do not change its append',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const list: RunEvent[] = [started];
      const creating = lease.create(list, apply(newRun, started));
      list.push(woke(2));
      const { journal } = await creating;
      await journal.append([], apply(newRun, started));
      assert.deepEqual(await eventsOf(other), [started]);
      await lease.release();
    },
  },
  {
    name: 'an append that expects an earlier position is refused, and changes nothing',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const { journal, run, append } = await begin(lease);
      await append(woke(2));
      await assert.rejects(journal.append([woke(3)], apply(run, woke(3))), PositionConflict);
      assert.deepEqual(await eventsOf(other), [started, woke(2)]);
      await append(woke(4));
      assert.deepEqual(await eventsOf(other), [started, woke(2), woke(4)]);
      await lease.release();
    },
  },
  {
    name: 'an append that expects a later position is refused, and changes nothing',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const { journal, run, append } = await begin(lease);
      const later = [woke(2), woke(3)].reduce(apply, run);
      await assert.rejects(journal.append([woke(3)], later), PositionConflict);
      await append(woke(4));
      assert.deepEqual(await eventsOf(other), [started, woke(4)]);
      await lease.release();
    },
  },
  {
    name: 'the next process continues a run at its end',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const { append } = await begin(lease);
      await append(woke(2));
      await lease.release();
      const next = await other.lease(ID);
      const { run, journal } = await next.open();
      assert.deepEqual(run, [started, woke(2)].reduce<Run>(apply, newRun));
      await journal.append([woke(3)], apply(run, woke(3)));
      await next.release();
      assert.deepEqual(await eventsOf(store), [started, woke(2), woke(3)]);
      const found = await store.look(ID);
      assert(found.kind === 'stored');
      assert.equal(found.run.seq, 3);
    },
  },
  {
    name: 'an id that is in use cannot be used for a new run',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      await begin(lease);
      await lease.release();
      const again = await other.lease(ID);
      await assert.rejects(begin(again), hasCode('run-exists'));
      await again.release();
      assert.deepEqual(await eventsOf(store), [started]);
    },
  },
  {
    name: 'a missing run is reported as missing',
    async holds({ store }) {
      const found = await store.look(ID);
      assert(found.kind === 'damaged');
      assert.equal(found.problem.code, 'no-run');
      assert.equal(await store.owner(ID), undefined);
      await assert.rejects(eventsOf(store), hasCode('no-run'));
      const lease = await store.lease(ID);
      await assert.rejects(lease.open(), hasCode('no-run'));
      await lease.release();
      assert.deepEqual(await store.list(), []);
    },
  },
  {
    name: 'one process owns a run at a time, and every process sees the owner',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      await begin(lease);
      const owner = await other.owner(ID);
      assert(owner !== undefined);
      await assert.rejects(other.lease(ID), hasCode('run-locked'));
      const found = await other.look(ID);
      assert(found.kind === 'stored');
      assert.deepEqual(found.owner, owner);
      await lease.confirm();
      await lease.release();
      assert.equal(await other.owner(ID), undefined);
      await (await other.lease(ID)).release();
    },
  },
  {
    name: 'if many processes request a run, one gets it',
    async holds({ store, other }) {
      const wanted = Array.from({ length: 10 }, (_, n) => (n % 2 ? store : other).lease(ID));
      const results = await Promise.allSettled(wanted);
      const got = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      assert.equal(got.length, 1);
      await got[0]?.release();
    },
  },
  {
    name: 'a lease that another process took over changes nothing',
    async holds({ store, other, fallSilent }) {
      const lost = await store.lease(ID);
      const { append } = await begin(lost);
      fallSilent();
      const taken = await other.lease(ID);
      const { run, journal } = await taken.open();
      await journal.append([woke(2)], apply(run, woke(2)));

      await assert.rejects(append(woke(66)), RunLost);
      await assert.rejects(lost.confirm(), RunLost);
      await assert.rejects(lost.remove(), RunLost);
      await lost.release();

      assert.notEqual(await store.owner(ID), undefined, 'releasing the lost lease had an effect');
      await journal.append([woke(3)], [woke(2), woke(3)].reduce(apply, run));
      assert.deepEqual(await eventsOf(other), [started, woke(2), woke(3)]);
      await taken.release();
    },
  },
  {
    name: 'events are read after a position, with their numbers',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const { append } = await begin(lease);
      await append(woke(2), woke(3));
      await append(woke(4));
      const seqs = async (after?: number) =>
        (await collected(other.events(ID, after))).map(({ seq, at }) => [seq, at]);
      const all = [
        [1, started.at],
        [2, 2],
        [3, 3],
        [4, 4],
      ];
      assert.deepEqual(await seqs(), all);
      // A position may be inside one append.
      for (const after of [0, 1, 2, 3, 4, 9])
        assert.deepEqual(await seqs(after), all.slice(after), `after ${after}`);
      await lease.release();
    },
  },
  {
    name: 'a watcher gets the existing events and then the new ones, each once and in order',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const { append } = await begin(lease);
      await append(woke(2), woke(3));
      const watching = [0, 2, 4].map((after) => watched(other, after));
      await append(woke(4));
      await append(woke(5), woke(6));
      await append(LAST);
      assert.deepEqual(await Promise.all(watching), [
        [1, 2, 3, 4, 5, 6, 7],
        [3, 4, 5, 6, 7],
        [5, 6, 7],
      ]);
      await lease.release();
    },
  },
  {
    name: 'a watcher continues when the owner changes',
    async holds({ store, other, fallSilent }) {
      const lost = await store.lease(ID);
      await begin(lost);
      const watching = watched(other, 0);
      fallSilent();
      const lease = await other.lease(ID);
      const { run, journal } = await lease.open();
      await journal.append([woke(2)], apply(run, woke(2)));
      await journal.append([LAST], [woke(2), LAST].reduce(apply, run));
      assert.deepEqual(await watching, [1, 2, 3]);
      await lease.release();
      await lost.release();
    },
  },
  {
    name: 'watching ends when it is aborted, even if nothing happens',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      await begin(lease);
      const over = new AbortController();
      const seqs: number[] = [];
      for await (const { seq } of other.watch(ID, 0, over.signal)) {
        seqs.push(seq);
        setImmediate(() => over.abort());
      }
      assert.deepEqual(seqs, [1]);
      for await (const _ of other.watch(ID, 0, AbortSignal.abort()))
        assert.fail('an aborted watch gave an event');
      await lease.release();
    },
  },
  {
    name: 'messages are stored, and read in the order of their posting',
    async holds({ store, other }) {
      await (await begun(store)).release();
      const messages = [answer(9, 'z'), stop('drain'), answer(3, 'a'), stop('now'), answer(5, 'm')];
      for (const message of messages) assert.equal(await other.mailbox(ID).post(message), true);
      assert.deepEqual(await store.mailbox(ID).messages(), messages);
      const { got, close } = await readMail(store);
      assert.deepEqual(
        got.map(({ message }) => message),
        messages,
      );
      close();
    },
  },
  {
    name: 'a message that arrives during reading comes after the earlier ones',
    async holds({ store, other }) {
      await (await begun(store)).release();
      await other.mailbox(ID).post(answer(9, 'z'));
      const { got, until, close } = await readMail(store);
      await other.mailbox(ID).post(answer(3, 'a'));
      await other.mailbox(ID).post(stop('now'));
      await until(3);
      assert.deepEqual(
        got.map(({ message }) => message),
        [answer(9, 'z'), answer(3, 'a'), stop('now')],
      );
      close();
    },
  },
  {
    name: 'a message stays for the next reader until it is done',
    async holds({ store, other }) {
      await (await begun(store)).release();
      await other.mailbox(ID).post(stop('drain'));
      await other.mailbox(ID).post(answer(3, 'a'));
      const first = await readMail(store);
      assert.equal(first.got.length, 2);
      await first.got[0]?.done();
      await first.got[0]?.done();
      first.close();
      const second = await readMail(other);
      assert.deepEqual(
        second.got.map(({ message }) => message),
        [answer(3, 'a')],
      );
      await second.got[0]?.done();
      second.close();
      assert.deepEqual(await store.mailbox(ID).messages(), []);
    },
  },
  {
    name: 'a question has one answer: the first',
    async holds({ store, other }) {
      await (await begun(store)).release();
      assert.equal(await store.mailbox(ID).post(answer(3, 'a', 'yes')), true);
      assert.equal(await other.mailbox(ID).post(answer(3, 'a', 'no')), false);
      assert.equal(await other.mailbox(ID).post(answer(3, 'b', 'no')), true);
      assert.equal(await other.mailbox(ID).post(answer(4, 'a', 'no')), true);
      const texts = (await store.mailbox(ID).messages()).map((one) => 'text' in one && one.text);
      assert.deepEqual(texts, ['yes', 'no', 'no']);
      const racing = Array.from({ length: 10 }, (_, n) =>
        (n % 2 ? store : other).mailbox(ID).post(answer(7, 'a', String(n))),
      );
      assert.equal((await Promise.all(racing)).filter(Boolean).length, 1);
      const decide = (step: number, request: string): Message => ({
        ...{ kind: 'permission', agent: 'a', step, request, decision: 'allow' },
      });
      assert.equal(await store.mailbox(ID).post(decide(3, 'r')), true);
      assert.equal(await other.mailbox(ID).post(decide(3, 'r')), false);
      assert.equal(await other.mailbox(ID).post(decide(4, 'r')), true);
      assert.equal(await other.mailbox(ID).post(decide(3, 's')), true);
      const say = (words: string): Message => ({ kind: 'say', agent: 'a', words, text: 'x' });
      assert.equal(await store.mailbox(ID).post(say('w1')), true);
      assert.equal(await other.mailbox(ID).post(say('w1')), false);
      assert.equal(await other.mailbox(ID).post(say('w2')), true);
    },
  },
  {
    name: 'a run stays its owner’s own after choices that were sealed',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const { run, append } = await begin(lease);
      const isOwn = async (added = 0) => {
        const found = await other.look(ID);
        return found.kind === 'stored' && found.run.seq === run.seq + added && found.isOwn;
      };
      assert.equal(await isOwn(), true);
      const settings = { ...run.settings, budgetUsd: run.settings.budgetUsd + 1 };
      const resumed: RunEvent = { type: 'run-resumed', at: 5, settings };
      assert.equal(await lease.seal({ ...run, settings }), undefined);
      assert.equal(await isOwn(), true);
      await append(resumed);
      assert.equal(await isOwn(1), true);
      await lease.release();
      const next = await other.lease(ID);
      assert.equal((await next.open()).isOwn, true);
      await next.release();
    },
  },
  {
    name: 'a look gives the history on request: each event, with the run before and after it',
    async holds({ store, other }) {
      const lease = await store.lease(ID);
      const { append } = await begin(lease);
      await append(woke(2), woke(3));
      await append(woke(4));
      let run: Run | undefined;
      const found = await other.look(ID, (event, before, after) => {
        assert.equal(event.seq, (run?.seq ?? 0) + 1);
        assert.deepEqual(before, run);
        assert.deepEqual(after, apply(run ?? newRun, event));
        run = after;
      });
      assert(found.kind === 'stored');
      assert.equal(found.run.seq, 4);
      assert.deepEqual(found.run, run);
      await lease.release();
    },
  },
  {
    name: 'a cache has the last text of any process, and no text of another cache',
    async holds({ store, other }) {
      // The first run of a user makes the key with which a store of files seals.
      const lease = await store.lease(ID);
      await begin(lease);
      await lease.release();
      assert.equal(await store.cache('a').read(), undefined);
      await store.cache('a').write('one');
      await other.cache('b').write('two');
      assert.equal(await other.cache('a').read(), 'one');
      await other.cache('a').write('three');
      assert.equal(await store.cache('a').read(), 'three');
      assert.equal(await store.cache('b').read(), 'two');
    },
  },
  {
    name: 'a survey gives every run as a look at it does, also after changes',
    async holds({ store, other }) {
      assert.deepEqual(await store.survey(), []);
      const lease = await store.lease(ID);
      const { append } = await begin(lease);
      await agree(store, other);
      await append(woke(2), LAST);
      await agree(store, other);
      await lease.release();
      await agree(store, other);
      const next = await other.lease(ID);
      await agree(store, other);
      await next.remove();
      await next.release();
      assert.deepEqual(await store.survey(), []);
    },
  },
  {
    name: 'the records of steps are found by agent and step',
    async holds({ store, other, keepRecord }) {
      const lease = await begun(store);
      const content = Buffer.from('ä \0 binary');
      await keepRecord({ agent: 'main', step: 1 }, 'answer', Buffer.from('old'));
      await keepRecord({ agent: 'main', step: 1 }, 'answer', content);
      await keepRecord({ agent: 'main', step: 2 }, 'stdout', Buffer.from('two'));
      await lease.release();
      const records = other.records(ID);
      const text = async (...wanted: Parameters<typeof records.read>) =>
        Buffer.from((await records.read(...wanted)) ?? []).toString();
      assert.equal(await text({ agent: 'main', step: 1 }, 'answer', 100), content.toString());
      assert.equal(await text({ agent: 'main', step: 2 }, 'stdout', 100), 'two');
      assert.equal(await records.read({ agent: 'main', step: 2 }, 'stdout', 2), undefined);
      assert.equal(await records.read({ agent: 'main', step: 2 }, 'answer', 100), undefined);
    },
  },
  {
    name: 'every process can keep files of a run, and finds them by the hash of their content',
    async holds({ store, other }) {
      const lease = await begun(store);
      const content = Uint8Array.from({ length: 200_000 }, (_, at) => at % 251);
      const [mine, again, empty] = await Promise.all([
        store.files(ID).keep(content),
        other.files(ID).keep(content),
        other.files(ID).keep(new Uint8Array()),
      ]);
      assert.equal(mine, again);
      await lease.release();
      assert.deepEqual(Buffer.from((await other.files(ID).read(mine)) ?? []), Buffer.from(content));
      assert.equal((await store.files(ID).read(empty))?.length, 0);
      for (const name of ['f'.repeat(64), '../lock', '', mine.slice(1)])
        assert.equal(await store.files(ID).read(name), undefined);
    },
  },
  {
    name: 'other processes see what the owner published last, and the journal does not',
    async holds({ store, other }) {
      const lease = await begun(store);
      assert.equal(await other.now(ID), undefined);
      await lease.publish(nowAt(1, 'first'));
      assert.deepEqual(await other.now(ID), nowAt(1, 'first'));
      const next = nowAt(2, 'ä "quoted"\nline 😀');
      await lease.publish(next);
      assert.deepEqual(await other.now(ID), next);
      assert.deepEqual(await store.now(ID), next);
      assert.deepEqual(await eventsOf(other), [started]);
      assert.deepEqual(await other.list(), [ID]);
      await lease.release();
    },
  },
  {
    name: 'a publication ends with the lease of its owner',
    async holds({ store, other, fallSilent }) {
      const first = await begun(store);
      await first.publish(nowAt(1, 'released'));
      assert.deepEqual(await other.now(ID), nowAt(1, 'released'));
      await first.release();
      assert.equal(await other.now(ID), undefined);

      const lost = await store.lease(ID);
      assert.equal(await other.now(ID), undefined);
      await lost.publish(nowAt(2, 'lost'));
      fallSilent();
      assert.equal(await other.now(ID), undefined);
      const taken = await other.lease(ID);
      assert.equal(await other.now(ID), undefined);
      await taken.publish(nowAt(3, 'taken'));
      await assert.rejects(lost.publish(nowAt(4, 'late')), RunLost);
      await lost.release();
      assert.deepEqual(await other.now(ID), nowAt(3, 'taken'));
      await taken.release();
    },
  },
  {
    name: 'a watcher sees the newest publication, and its end',
    async holds({ store, other }) {
      const lease = await begun(store);
      await lease.publish(nowAt(1, 'existing'));
      const seen: unknown[] = [];
      const patience = AbortSignal.timeout(PATIENCE_MS);
      for await (const now of other.watchNow(ID, patience)) {
        seen.push(now?.at);
        if (now?.at === 1) await lease.publish(nowAt(2, 'newer'));
        if (now?.at === 2) await lease.release();
        if (now === undefined) break;
      }
      assert.deepEqual(seen, [1, 2, undefined]);
      for await (const _ of other.watchNow(ID, AbortSignal.abort()))
        assert.fail('an aborted watch gave a publication');
    },
  },
  {
    name: 'there is news of each run, and of all runs, after each change that others can see',
    async holds({ store, other }) {
      const lease = await begun(store);
      const over = new AbortController();
      const heard = { one: 0, all: 0 };
      const listen = async (whose: keyof typeof heard, id: string | undefined) => {
        for await (const _ of other.news(id, over.signal)) heard[whose] += 1;
      };
      const listening = [listen('one', ID), listen('all', undefined)];
      const isHeard = async (change: () => Promise<unknown>) => {
        // A store may report the beginning and its own looks, too.
        const before = { ...heard };
        await change();
        const patience = Date.now() + PATIENCE_MS;
        while (heard.one === before.one || heard.all === before.all) {
          assert.ok(Date.now() < patience, `${change} was not heard`);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      };
      await isHeard(() => other.mailbox(ID).post(stop('drain')));
      await isHeard(() => lease.remove());
      await lease.release();
      over.abort();
      await Promise.all(listening);
    },
  },
  {
    name: 'removing a run removes everything of it and frees its id',
    async holds({ store, other, keepRecord }) {
      const lease = await begun(store);
      await keepRecord({ agent: 'main', step: 1 }, 'answer', Buffer.from('old'));
      const file = await other.files(ID).keep(Buffer.from('old'));
      await other.mailbox(ID).post(stop('drain'));
      await lease.publish(nowAt(1, 'removed'));
      await lease.remove();
      await lease.release();
      assert.deepEqual(await other.list(), []);
      assert.equal(await other.now(ID), undefined);
      await assert.rejects(eventsOf(other), hasCode('no-run'));
      const again = await begun(other);
      assert.deepEqual(await store.mailbox(ID).messages(), []);
      const record = await store.records(ID).read({ agent: 'main', step: 1 }, 'answer', 100);
      assert.equal(record, undefined);
      assert.equal(await store.files(ID).read(file), undefined);
      await again.release();
    },
  },
];

const nowAt = (at: number, text: string): Now => ({
  at,
  agents: [
    { agent: 'main', step: 2, words: { at, text } },
    { agent: 'main_a1', step: 1, tool: { at, name: 'Bash', summary: 'npm test' } },
  ],
  omitted: 3,
});
const woke = (at: number): RunEvent => ({ type: 'agent-woke', at, agent: 'main' });
/** The event for which a watcher waits in a check. */
const LAST = woke(99);
const answered = (text: string): RunEvent => ({
  type: 'agent-answered',
  at: 7,
  agent: 'main',
  text,
});
const stop = (how: 'drain' | 'now'): Message => ({ kind: 'stop', how, pid: 7 });
const answer = (askedAt: number, agent: string, text = 'yes'): Message => ({
  kind: 'answer',
  agent,
  askedAt,
  text,
});

/** Creates a run with its first event; returns functions that append to it. */
async function begin(lease: Lease) {
  const begunRun = apply(newRun, started);
  const { journal } = await lease.create([started], begunRun);
  let run = begunRun;
  const append = (...events: readonly RunEvent[]) => {
    run = events.reduce(apply, run);
    return journal.append(events, run);
  };
  return { journal, run: begunRun, append };
}

/** A survey by each process gives what a look gives. */
async function agree(...stores: readonly RunStore[]): Promise<void> {
  for (const store of stores) {
    const found = await store.look(ID);
    assert(found.kind === 'stored');
    assert.deepEqual(await store.survey(), [{ ...found, run: summaryOf(found.run) }]);
  }
}

async function begun(store: RunStore): Promise<Lease> {
  const lease = await store.lease(ID);
  await begin(lease);
  return lease;
}

async function eventsOf(store: RunStore): Promise<readonly RunEvent[]> {
  return (await collected(store.events(ID))).map(({ seq: _, ...event }) => event);
}

async function collected<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The numbers of the events up to the last one, or of those that arrived if it never does. */
async function watched(store: RunStore, after: number): Promise<readonly number[]> {
  const seqs: number[] = [];
  const patience = AbortSignal.timeout(PATIENCE_MS);
  for await (const { seq, at } of store.watch(ID, after, patience)) {
    seqs.push(seq);
    if (at === LAST.at) break;
  }
  return seqs;
}

/** Only a broken store needs this long. */
const PATIENCE_MS = 50_000;

async function readMail(store: RunStore) {
  const got: { readonly message: Message; readonly done: () => Promise<void> }[] = [];
  let onNews = () => {};
  const { close } = await store.mailbox(ID).read({
    onMessage(message, done) {
      got.push({ message, done });
      onNews();
    },
    onTrouble: (text) => assert.fail(text),
  });
  const until = (count: number) =>
    new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`only ${got.length} arrived`)), PATIENCE_MS);
      onNews = () => {
        if (got.length < count) return;
        clearTimeout(late);
        resolve();
      };
      onNews();
    });
  return { got, until, close };
}

function hasCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof UserError && error.code === code;
}
