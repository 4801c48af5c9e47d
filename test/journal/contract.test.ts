import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { realDisk } from '../../src/journal/disk.ts';
import { createJournal } from '../../src/journal/file-journal.ts';
import { memoryJournal } from '../../src/journal/memory-journal.ts';
import { PersistentMap } from '../../src/model/persistent-map.ts';
import type { Run } from '../../src/model/run.ts';
import { emptyTally } from '../../src/model/tally.ts';
import { journalContract } from '../contracts/journal.ts';
import { alone, eventsOf, foldAll, seen, started, temporaryFolder } from './fixtures.ts';

journalContract('the file', async () => {
  const path = join(await temporaryFolder(), 'demo-00000001.jsonl');
  const journal = await createJournal(realDisk, path, seen, alone);
  onTestFinished(() => journal.close());
  return {
    journal,
    run: foldAll([started]),
    events: () => eventsOf(path),
  };
});

journalContract('the memory', async () => {
  const journal = memoryJournal();
  return { journal, run: emptyRun, events: async () => journal.events };
});

const emptyRun: Run = {
  id: 'demo-00000001',
  seq: 0,
  workflow: '/flows/demo',
  cwd: '/project',
  settings: started.settings,
  metadata: {},
  startedAt: 1,
  updatedAt: 1,
  status: { kind: 'active' },
  agents: PersistentMap.empty(),
  endedAgents: PersistentMap.empty(),
  forkCounters: PersistentMap.empty(),
  workflowFiles: PersistentMap.empty(),
  tally: emptyTally,
  iterations: 0,
  totalCostUsd: 0,
  dearestTurnUsd: undefined,
  limitedUntil: undefined,
  result: undefined,
};
