// What commands read must not grow with the journals of finished runs. Counts bytes and reads of the
// whole process, as the system counts them.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { writeKeptRuns } from '../kept-runs.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const [FEW, MANY] = [10, 200];
/** Each journal has 60 KB. */
const STEPS = 100;
/** The index has fewer bytes for each run, and is read in pieces. A read of each run would be 190. */
const [BYTES_PER_RUN, READS] = [600, 50];

const FLOW = { 'START.sh': `echo '<result>ok</result>'\n` };
const COUNTER = `
import { readFileSync, writeFileSync } from 'node:fs';
process.on('exit', () => writeFileSync(process.env.IO_FILE, readFileSync('/proc/self/io', 'utf8')));
`;

/** A project whose finished runs are in the index. */
async function projectWith(runs: number): Promise<Project> {
  const project = newProject({ ...FLOW, 'counter.mjs': COUNTER });
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

async function read(project: Project, words: readonly string[]) {
  const file = project.path('io');
  const env = { NODE_OPTIONS: `--import ${project.path('counter.mjs')}`, IO_FILE: file };
  expect(await project.run(words, { env })).toMatchObject({ code: 0 });
  const count = (name: string) =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(readFileSync(file, 'utf8'))?.[1]);
  return { bytes: count('rchar'), reads: count('syscr') };
}

test('starts, lists and completion do not read finished journals', async () => {
  const [few, many] = await Promise.all([projectWith(FEW), projectWith(MANY)]);
  for (const words of [
    ['list'],
    ['.', '--workflow-id', 'another', '--quiet'],
    ['resume', '--all'],
    ['prune', '--dry-run', '--older-than', '9999d'],
    ['__complete', '--', 'show', 'kep'],
  ]) {
    const [less, more] = [await read(few, words), await read(many, words)];
    const name = words.join(' ');
    expect(more.bytes - less.bytes, name).toBeLessThan(BYTES_PER_RUN * (MANY - FEW));
    expect(more.reads - less.reads, name).toBeLessThan(READS);
  }
});
