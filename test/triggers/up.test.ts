/** Real processes of `raymond up`: killed at random moments, two at once, and workers of a database. */
import { existsSync, readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { isLong } from '../long.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { Project, type Started } from '../raymond.ts';

/** A workflow that writes down its input, once for each file of an inbox. */
async function inboxProject(more: readonly string[] = []): Promise<Project> {
  const project = new Project(
    { 'intake/workflow.yaml': 'triggers: [{ files: "inbox/*.md" }]\n' },
    'pro ject ü',
  );
  project.write('intake/START.sh', START.replace('OUT', project.path('out.txt')));
  onTestFinished(() => project.dispose());
  const trusted = await project.run(['trust', 'intake', '--yes', ...more]);
  expect(trusted.code).toBe(0);
  return project;
}

const START = `printf '%s\\n' "$RAYMOND_INPUT" >> 'OUT'
echo "<result>$RAYMOND_TRIGGER</result>"
`;

const done = (project: Project) =>
  existsSync(project.path('inbox', 'done')) ? readdirSync(project.path('inbox', 'done')).length : 0;

const keeps = (up: Started) => eventually('it keeps them', () => up.stderr().includes('Keeps 1'));

function put(project: Project, count: number): readonly string[] {
  const names = Array.from({ length: count }, (_, index) => `inbox/ä ${index}.md`);
  for (const name of names) project.write(name, name);
  return names.sort();
}

const FILES = isLong ? 60 : 3;
const KILLS = isLong ? 500 : 6;

test('killed at random moments, each file starts one run', async () => {
  const project = await inboxProject();
  const files = put(project, FILES);
  for (let kill = 0; kill < KILLS && done(project) < FILES; kill++) {
    const up = project.start(['up']);
    // Somewhere between its first words and the end of the next run.
    const words = Math.floor(Math.random() * 5);
    const goal = done(project) + 1;
    await eventually('it works', () => {
      const lines = up.stderr().split('\n').length - 1;
      return lines >= words || done(project) >= goal;
    });
    up.child.kill('SIGKILL');
    await up.ended;
  }
  const up = project.start(['up']);
  await eventually('all files are done', () => done(project) === FILES);
  up.child.kill('SIGTERM');
  expect((await up.ended).code).toBe(0);
  expect(project.lines('out.txt').sort()).toEqual(files);
});

test('two at once start each file once, and show what started a run', async () => {
  const project = await inboxProject();
  const both = [project.start(['up']), project.start(['up'])];
  for (const up of both) await keeps(up);
  const files = put(project, 2);
  await eventually('all files are done', () => done(project) === files.length);
  const listed = await project.run(['triggers', '--json']);
  expect(JSON.parse(listed.stdout)).toMatchObject({
    ...{ workflow: 'intake', approved: true, waiting: 0, last: { outcome: 'over' } },
  });
  const shown = await project.run(['show']);
  expect(shown.stdout).toContain('trigger   files inbox/*.md, file inbox/ä');
  for (const { child } of both) child.kill('SIGINT');
  for (const { ended } of both) expect((await ended).code).toBe(0);
  expect(project.lines('out.txt').sort()).toEqual(files);
});

test('triggers that are not approved, or have changed, are named and start nothing', async () => {
  const project = await inboxProject();
  project.write('intake/workflow.yaml', 'triggers: [{ files: "inbox/*.md", overlap: replace }]\n');
  const up = project.start(['up']);
  await eventually('it refuses', () => up.stderr().includes('Keeps 0 triggers'));
  expect(up.stderr()).toContain('raymond trust intake');
  // It notices the approval of what it has already read when the workflow is written again.
  await project.run(['trust', 'intake', '--yes']);
  project.write('intake/workflow.yaml', 'triggers: [{ files: "inbox/*.md", overlap: replace }]\n');
  await eventually('it keeps the trigger', () => up.stderr().includes('inbox/*.md): kept'));
  up.child.kill('SIGTERM');
  expect((await up.ended).code).toBe(0);
});

test('three workers on one database start each file once', async () => {
  const database = ['--database', await newDatabase()];
  const project = await inboxProject(database);
  const workers = ['a', 'b', 'c'].map((name) =>
    project.start(['worker', '--name', name, ...database]),
  );
  for (const worker of workers)
    await eventually('it keeps the trigger', () => worker.stderr().includes('): kept'));
  const files = put(project, 2);
  await eventually('all files are done', () => done(project) === files.length);
  for (const { child } of workers) child.kill('SIGTERM');
  for (const { ended } of workers) await ended;
  expect(project.lines('out.txt').sort()).toEqual(files);
});
