// The reads of commands must not grow with the journals of finished runs. Counts bytes and reads of
// the whole process, as the system counts them.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
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
 * reads, such as the table of processes. To read the journals would be 60,000 bytes and one read each.
 */
const [BYTES_PER_RUN, READS] = [1_500, 120];

const FLOW = { 'START.sh': `echo '<result>ok</result>'\n` };

/** A project whose finished runs are in the index. */
async function projectWith(runs: number): Promise<Project> {
  const project = newProject({ ...FLOW, ...COUNTER });
  // The first own run makes the user's key.
  expect(await project.run(['.', '--workflow-id', 'own'])).toMatchObject({ code: 0 });
  writeKeptRuns(project.folder, runs, STEPS);
  await eventually('the index has all runs', async () => {
    await project.run(['list']);
    const index = project.path('.raymond/index');
    return existsSync(index) && readFileSync(index, 'utf8').split('"id"').length > runs + 1;
  });
  return project;
}

test('starts, lists and completion do not read finished journals', async () => {
  const [few, many] = await Promise.all([projectWith(FEW), projectWith(MANY)]);
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
    let difference = await between(few, many, words);
    for (let tries = 1; tries < TRIES && !isSmall(difference); tries++)
      difference = await between(few, many, words);
    expect({ name, difference, isSmall: isSmall(difference) }).toMatchObject({ isSmall: true });
  }
});

/** Processes of others come and go between two commands, and both read the table of processes. */
const TRIES = 5;

async function between(few: Project, many: Project, words: readonly string[]) {
  const [less, more] = [await readBy(few, words), await readBy(many, words)];
  return { bytes: more.bytes - less.bytes, reads: more.reads - less.reads };
}

function isSmall({ bytes, reads }: { readonly bytes: number; readonly reads: number }): boolean {
  return bytes < BYTES_PER_RUN * (MANY - FEW) && reads < READS;
}
