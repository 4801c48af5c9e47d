// A command reads the journal of its run once, however long it is.
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { writeLongRun } from '../kept-runs.ts';
import { newProject } from '../new-project.ts';
import { COUNTER, readBy } from './read-by.ts';

test.each(['show', 'show --json', 'show --timeline', 'logs'])(
  '%s reads each byte of a journal once',
  async (command) => {
    const [short, long] = [1_000, 20_000].map((events) => {
      const project = newProject(COUNTER);
      writeLongRun(project.folder, 'r', events);
      return { project, size: statSync(project.path('.raymond/state/r.jsonl')).size };
    });
    if (!short || !long) throw new Error('Two projects were made.');
    const [less, more] = [
      await readBy(short.project, [...command.split(' '), 'r']),
      await readBy(long.project, [...command.split(' '), 'r']),
    ];
    const once = long.size - short.size;
    expect(more.bytes - less.bytes).toBeGreaterThan(0.99 * once);
    expect(more.bytes - less.bytes).toBeLessThan(1.05 * once);
    // The largest reads have 256 KB. Threads wake each other with reads, too, on a busy machine more often.
    expect(more.reads - less.reads).toBeLessThan(once / (64 * 1024) + 10);
  },
);
