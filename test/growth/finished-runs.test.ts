// The reads of commands must not grow with the journals of finished runs. Counts bytes and reads of
// the whole process, as the system counts them.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { writeKeptRuns } from '../kept-runs.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { COUNTER, readBy } from './read-by.ts';

const [FEW, MANY] = [10, 200];
/** Each journal has 60 KB. */
const STEPS = 100;
/**
 * The index has about 500 bytes for each run, and is read in pieces. The rest is for what else a process
 * reads. To read the journals would be 60,000 bytes and one read each.
 */
const [BYTES_PER_RUN, READS] = [1_500, 120];

const FLOW = { 'START.sh': `echo '<result>ok</result>'\n` };

/** A project whose finished runs are in the index. */
async function projectWith(runs: number): Promise<Project> {
  const project = newProject({ ...FLOW, ...COUNTER });
  // The first own run makes the user's key.
  expect(await command(project, ['.', '--workflow-id', 'own'])).toMatchObject({ code: 0 });
  writeKeptRuns(project.folder, runs, STEPS);
  await eventually('the index has all runs', async () => {
    await command(project, ['list']);
    const index = project.path('.raymond/index');
    return existsSync(index) && readFileSync(index, 'utf8').split('"id"').length > runs + 1;
  });
  return project;
}

test('starts, lists and completion do not read finished journals', async () => {
  const [few, many] = [await projectWith(FEW), await projectWith(MANY)];
  for (const words of [
    ['list'],
    ['list', '--json'],
    ['show'],
    ['.', '--quiet'],
    ['resume', '--all'],
    ['prune', '--dry-run', '--older-than', '9999d'],
    ['__complete', '--', 'show', 'kep'],
  ]) {
    const name = words.join(' ');
    const [less, more] = await Promise.all([readBy(few, words), readBy(many, words)]);
    expect(more.bytes - less.bytes, name).toBeLessThan(BYTES_PER_RUN * (MANY - FEW));
    expect(more.reads - less.reads, name).toBeLessThan(READS);
  }
});
