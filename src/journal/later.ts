/** A store that is opened when it is first needed. */
import type { Cache, Mailbox, RunStore, StepRecords } from '../ports.ts';

export function laterStore(open: () => Promise<RunStore>): RunStore {
  let opened: Promise<RunStore> | undefined;
  const store = () => {
    opened ??= open();
    return opened;
  };
  return {
    list: async () => (await store()).list(),
    survey: async () => (await store()).survey(),
    look: async (id, each) => (await store()).look(id, each),
    owner: async (id) => (await store()).owner(id),
    events: (id, after) => later(async () => (await store()).events(id, after)),
    watch: (id, after, signal) => later(async () => (await store()).watch(id, after, signal)),
    now: async (id) => (await store()).now(id),
    watchNow: (id, signal) => later(async () => (await store()).watchNow(id, signal)),
    news: (id, signal) => later(async () => (await store()).news(id, signal)),
    lease: async (id) => (await store()).lease(id),
    mailbox: (id) => laterMailbox(async () => (await store()).mailbox(id)),
    records: (id) => laterRecords(async () => (await store()).records(id)),
    cache: (name) => laterCache(async () => (await store()).cache(name)),
  };
}

/** The items of a sequence that is opened with the first one. After that, an item costs no additional promise. */
export function later<T>(open: () => Promise<AsyncIterable<T>>): AsyncIterable<T> {
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

export function laterMailbox(open: () => Promise<Mailbox>): Mailbox {
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
