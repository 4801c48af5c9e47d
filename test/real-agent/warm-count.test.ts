// Counts the processes that a warm session saves. npm run bench measures the time.
import { expect, test } from 'vitest';
import { suiteAges } from './claude-sandbox.ts';
import { eventsOf, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

const turns = 3;
const ways = suiteAges.flatMap((age) => [
  { age, flags: [], count: 1 },
  { age, flags: ['--no-warm'], count: turns },
]);

test.each(ways)(
  'three consecutive prompts need this number of processes: $count ($age $flags)',
  async (way) => {
    const { run, journal, processes } = await sandbox({
      age: way.age,
      workflow: { 'START.md': 'Go on.' },
      script: (_, turn) => (turn + 1 < turns ? '<goto>START</goto>' : '<result>there</result>'),
    });
    expect(await run('workflow', '--workflow-id', 'r', ...way.flags)).toMatchObject({ code: 0 });
    expect(eventsOf(journal('r'), 'step-ended')).toHaveLength(turns);
    expect(processes()).toHaveLength(way.count);
  },
);
