/** A store that is opened when it is first needed. */
import type { Cache, Mailbox, RunStore, StepRecords } from '../ports.ts';

/** The parts of a store that concern one run. */
export type SingleRuns = Omit<RunStore, 'list' | 'survey' | 'news' | 'cache'>;

export function laterStore(open: () => Promise<RunStore>): RunStore {
  let opened: Promise<RunStore> | undefined;
  const store = () => {
    opened ??= open();
    return opened;
  };
  return {
    ...laterRuns(store),
    list: async () => (await store()).list(),
    survey: async () => (await store()).survey(),
    news: (id, signal) => later(async () => (await store()).news(id, signal)),
    cache: (name) => laterCache(async () => (await store()).cache(name)),
  };
}

/** `runs` is called for each request. */
export function laterRuns(runs: () => Promise<SingleRuns>): SingleRuns {
  return {
    look: async (id, each) => (await runs()).look(id, each),
    owner: async (id) => (await runs()).owner(id),
    events: (id, after) => later(async () => (await runs()).events(id, after)),
    watch: (id, after, signal) => later(async () => (await runs()).watch(id, after, signal)),
    now: async (id) => (await runs()).now(id),
    watchNow: (id, signal) => later(async () => (await runs()).watchNow(id, signal)),
    lease: async (id) => (await runs()).lease(id),
    mailbox: (id) => laterMailbox(async () => (await runs()).mailbox(id)),
    records: (id) => laterRecords(async () => (await runs()).records(id)),
    files: (id) => ({
      keep: async (content) => (await runs()).files(id).keep(content),
      read: async (sha256) => (await runs()).files(id).read(sha256),
    }),
  };
}

/** The items of a sequence that is opened with the first one. After that, an item costs no additional promise. */
function later<T>(open: () => Promise<AsyncIterable<T>>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      let items: AsyncIterator<T> | undefined;
      const first = async () => {
        items = (await open())[Symbol.asyncIterator]();
        return items.next();
      };
      return {
        next: () => items?.next() ?? first(),
        return: async () => (await items?.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

function laterMailbox(open: () => Promise<Mailbox>): Mailbox {
  return {
    post: async (message) => (await open()).post(message),
    messages: async () => (await open()).messages(),
    read: async (reader) => (await open()).read(reader),
  };
}

export function laterRecords(open: () => Promise<StepRecords>): StepRecords {
  return {
    read: async (step, name, maxBytes) => (await open()).read(step, name, maxBytes),
  };
}

function laterCache(open: () => Promise<Cache>): Cache {
  return {
    read: async () => (await open()).read(),
    write: async (text) => (await open()).write(text),
  };
}
