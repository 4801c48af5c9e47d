/** For any contents of a journal, commands that inspect its run give an answer or a UserError. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { allRuns, statusOf } from '../../src/app/find-run.ts';
import { table } from '../../src/cli/look/table.ts';
import { overlayOf } from '../../src/graph/overlay.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { freeze } from '../../src/journal/freeze-run.ts';
import {
  JOURNAL_VERSION,
  type JournaledEvent,
  type RunEvent,
  runEventSchema,
} from '../../src/model/event.ts';
import { stateNameSchema } from '../../src/model/state-name.ts';
import { UserError } from '../../src/model/user-error.ts';
import { retelling } from '../../src/observe/retell.ts';
import { scriptedWorkflow } from '../../src/testing.ts';
import { playAgain } from '../../src/workflow-tests/play-again.ts';
import { agent } from '../../src/world/agent.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { linesOf } from '../journal/fixtures.ts';
import { fromSchema } from '../properties/from-schema.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-hostile-')));
mkdirSync(join(folder, '.git'));
writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
mkdirSync(join(folder, '.raymond', 'state'), { recursive: true, mode: 0o700 });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Does what every command that lists, shows or draws runs does with the journals of the project. */
async function lookAtRuns(): Promise<number> {
  let runs = 0;
  const { store } = await surroundings({ cwd: folder });
  for (const found of await allRuns(store)) {
    if (found.kind === 'damaged') continue;
    runs += 1;
    statusOf(found);
    const retell = retelling(agent.alarmsOf);
    const events: JournaledEvent[] = [];
    const whole = await store.look(found.id, (event, before, after) => {
      retell(event, before, after);
      events.push(event);
    });
    if (whole.kind === 'stored') JSON.stringify(freeze(whole.run));
    overlayOf(events);
    await playAgain(events, {
      workflow: FLOW,
      library: { get: () => FLOW, load: async () => FLOW },
      answer: async ({ step }) => (step % 2 === 0 ? '<goto>START</goto>' : undefined),
      told: async () => 'Work.',
    }).catch(onlyUserError);
  }
  return runs;
}

const FLOW = scriptedWorkflow({ START: [] }, '/flow');

function onlyUserError(error: unknown): void {
  if (!(error instanceof UserError)) throw error;
}

const started: RunEvent = {
  type: 'run-started',
  version: JOURNAL_VERSION,
  at: 0,
  run: 'r',
  workflow: '/flow',
  state: stateNameSchema.parse('START.md'),
  cwd: '/',
  settings: newRun.settings,
  metadata: {},
};

const EXTREMES = [0, -1, 0.1, 1e15, 8.64e15, 8.65e15, 1e300, Number.MAX_SAFE_INTEGER];

/** The same value with other numbers in it. */
function withNumbers(value: unknown, next: () => number): unknown {
  if (typeof value === 'number') return next();
  if (Array.isArray(value)) return value.map((item) => withNumbers(item, next));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === 'version' ? item : withNumbers(item, next),
    ]),
  );
}

/** The arbitrary does not know every check of the schema. */
const knownEvent = fromSchema(runEventSchema).filter(
  (event) => runEventSchema.safeParse(event).success,
);

const hostileEvent = fc
  .tuple(knownEvent, fc.array(fc.constantFrom(...EXTREMES), { maxLength: 8 }))
  .map(([event, numbers]) => {
    const left = [...numbers];
    const changed = runEventSchema.safeParse(withNumbers(event, () => left.shift() ?? 1));
    return changed.success ? changed.data : event;
  });

test('any events in any order', async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(hostileEvent, { maxLength: 12 }), async (events) => {
      const journal = linesOf([started, ...events], 1);
      writeFileSync(join(folder, '.raymond', 'state', 'r.jsonl'), journal, { mode: 0o600 });
      runs += await lookAtRuns();
    }),
    { numRuns: 300 },
  );
  expect(runs).toBeGreaterThan(50);
});

test('any bytes in any file of a run', async () => {
  const file = fc.constantFrom('r.jsonl', 'r.json', 'r.snapshot', 's.jsonl', '.jsonl', 'é.json');
  const json = fc.json().map((text) => Buffer.from(`${text}\n`));
  await fc.assert(
    fc.asyncProperty(
      file,
      fc.oneof(fc.uint8Array({ maxLength: 300 }), json),
      async (name, bytes) => {
        writeFileSync(join(folder, '.raymond', 'state', name), bytes, { mode: 0o600 });
        await lookAtRuns();
      },
    ),
    { numRuns: 200 },
  );
});

test('a table has any number of rows', () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => [`agent ${i}`]);
  expect(table(['AGENT'], rows)).toHaveLength(200_001);
});
