import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/model/event.ts';
import { ended, started, woke } from '../journal/fixtures.ts';

export interface JournalUnderTest<R> {
  readonly journal: { append(events: readonly RunEvent[], after: R): Promise<void> };
  readonly run: R;
  /** What somebody who comes later finds. */
  events(): Promise<readonly RunEvent[]>;
}

/** What every journal promises, whatever it keeps its events in. */
export function journalContract<R>(name: string, make: () => Promise<JournalUnderTest<R>>) {
  describe(`${name} as a journal`, () => {
    test('has nothing at first but what was appended', async () => {
      const { journal, run, events } = await make();
      await journal.append([started], run);
      expect(await events()).toEqual([started]);
    });

    test('has what was appended as soon as the append resolves', async () => {
      const { journal, run, events } = await make();
      await journal.append([started, woke(2)], run);
      await journal.append([ended(3, 'ä "quoted"\nline 😀')], run);
      expect(await events()).toEqual([started, woke(2), ended(3, 'ä "quoted"\nline 😀')]);
    });

    test('keeps the order of appends that do not wait for each other', async () => {
      const { journal, run, events } = await make();
      const all = [started, ...Array.from({ length: 50 }, (_, i) => woke(i))];
      await Promise.all(all.map((event) => journal.append([event], run)));
      expect(await events()).toEqual(all);
    });

    test('takes an append of nothing', async () => {
      const { journal, run, events } = await make();
      await journal.append([started], run);
      await journal.append([], run);
      expect(await events()).toEqual([started]);
    });

    test('is not changed by what the caller does with its list later', async () => {
      const { journal, run, events } = await make();
      const list: RunEvent[] = [started];
      const appended = journal.append(list, run);
      list.push(woke(2));
      await appended;
      expect(await events()).toEqual([started]);
    });
  });
}
