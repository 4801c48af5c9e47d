/** One server for several projects: each has its own answers, and a page sees how each of them is. */
import { afterAll, expect, test } from 'vitest';
import { UserError } from '../../src/model/user-error.ts';
import { Projects } from '../../src/serve/projects.ts';
import { eventually } from '../eventually.ts';
import { writeKeptRuns } from '../kept-runs.ts';
import { Project } from '../raymond.ts';
import { partsFor } from './in-process.ts';

const [garden, kitchen, cellar] = [new Project({}), new Project({}), new Project({})];
writeKeptRuns(garden.folder, 2);
writeKeptRuns(kitchen.folder, 3);
afterAll(() => Promise.all([garden, kitchen, cellar].map((project) => project.dispose())));

async function projects() {
  let opened = 0;
  const made = new Projects(await partsFor(garden), {
    known: async () => [garden.folder, kitchen.folder, cellar.folder],
    open: async (folder) => {
      opened += 1;
      if (folder === cellar.folder) throw new UserError('locked', 'The cellar is locked.', 'Wait.');
      return partsFor({ folder });
    },
  });
  return { made, opened: () => opened };
}

const idsIn = async (made: Projects, folder?: string) => {
  const { of } = await made.answersOf(folder);
  const asked = { params: {}, query: {}, body: undefined, lastEventId: undefined };
  const reply = await of.runs(asked);
  return reply.kind === 'body' ? (reply.body as { runs: readonly { id: string }[] }).runs : [];
};

test('each project has its own runs, and is opened once', async () => {
  const { made, opened } = await projects();
  expect(await idsIn(made)).toHaveLength(2);
  expect(await idsIn(made, garden.folder)).toHaveLength(2);
  expect(await idsIn(made, kitchen.folder)).toHaveLength(3);
  expect(await idsIn(made, kitchen.folder)).toHaveLength(3);
  expect(opened()).toBe(1);
});

test.each(['/etc', '../kitchen', `${kitchen.folder}/..`, 'x'.repeat(100_000)])(
  'a folder that is no project of the user is refused: %.20s',
  async (folder) => {
    const { made, opened } = await projects();
    await expect(made.answersOf(folder)).rejects.toMatchObject({ code: 'not-found' });
    expect(opened()).toBe(0);
  },
);

test('a project that cannot be opened says why, and is tried again', async () => {
  const { made, opened } = await projects();
  await expect(made.answersOf(cellar.folder)).rejects.toThrow('The cellar is locked.');
  await expect(made.answersOf(cellar.folder)).rejects.toThrow('The cellar is locked.');
  expect(opened()).toBe(2);
});

test('a page sees all of them, and nobody counts them without a page', async () => {
  const { made, opened } = await projects();
  let changes = 0;
  const end = made.onChange(() => {
    changes += 1;
  });
  await eventually('they are counted', () => changes > 0);
  end();
  expect(Object.values(made.view.projects ?? {})).toMatchObject([
    { folder: garden.folder, runs: 2, active: 0, waiting: 0, failed: 0, problem: null },
    { folder: kitchen.folder, runs: 3, problem: null },
    { folder: cellar.folder, runs: 0, problem: 'The cellar is locked.' },
  ]);
  const before = opened();
  made.close();
  expect(opened()).toBe(before);
});
