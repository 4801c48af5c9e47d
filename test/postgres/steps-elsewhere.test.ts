import { expect, onTestFinished, test } from 'vitest';
import { keepStep } from '../../src/postgres/step-records.ts';
import { packStep, stepsAnywhere } from '../../src/world/fleet/steps-elsewhere.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { stepReaderOf } from '../../src/world/wire.ts';
import { command } from '../command.ts';
import { Project } from '../raymond.ts';
import { open, sharedDatabase } from './stores.ts';

const emptied = sharedDatabase();
const STEP = { agent: 'main', step: 1 };

function project(files: Readonly<Record<string, string>>): Project {
  const made = new Project(files);
  onTestFinished(() => made.dispose());
  return made;
}

test('what a step said on another machine is read from the database', async () => {
  const url = await emptied();
  const database = open(url);
  const files = { 'demo/START.sh': 'echo hello; echo trouble >&2; echo "<result>ok</result>"\n' };
  const there = project(files);
  expect(await command(there, ['demo', '--workflow-id', 'one'])).toMatchObject({ code: 0 });
  const worker = await surroundings({ cwd: there.folder, database: 'none' });
  const packed = await packStep(worker, 'one', STEP, 'script');
  const said = await stepReaderOf(worker).read('one', STEP, 'script');
  expect(said.messages.map(({ kind }) => kind)).toEqual(['stdout', 'stderr']);

  const around = await surroundings({ cwd: project(files).folder, database: url });
  const reader = await around.world.steps();
  onTestFinished(() => around.world.close());
  await command(there, ['demo', '--detach', '--workflow-id', 'one', '--database', url]);
  // Before the step ends, its messages are only on the other machine.
  expect((await reader.read('one', STEP, 'script')).messages).toMatchObject([
    { kind: 'note', text: expect.stringContaining('on the machine of its worker') },
  ]);
  let end = () => {};
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  const following = reader.follow('one', STEP, 'script', { after: undefined, until });
  await database.transaction(async (queries) => keepStep(queries, 'one', STEP, packed));
  end();
  const news = [];
  for await (const one of following) news.push(one);
  expect(news).toMatchObject([{ kind: 'messages', messages: said.messages }]);
  expect(await reader.read('one', STEP, 'script')).toEqual(said);
  const output = await around.store.records('one').read(STEP, 'stderr', 100);
  expect(Buffer.from(output ?? []).toString()).toBe('trouble\n');
});

test('the files of a step on this machine come first', async () => {
  const here = project({ 'START.sh': 'echo "<result>ok</result>"\n' });
  expect(await command(here, ['.', '--workflow-id', 'one'])).toMatchObject({ code: 0 });
  const around = await surroundings({ cwd: here.folder, database: 'none' });
  const reader = stepsAnywhere(around, async () => open(await emptied()));
  expect((await reader.read('one', STEP, 'script')).messages).toMatchObject([{ kind: 'stdout' }]);
});
