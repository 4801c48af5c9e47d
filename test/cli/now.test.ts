/** The view that other processes have of the agents of a run. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { surroundings } from '../../src/world/surroundings.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';

const ID = 'seen';
const FLOW = {
  'START.sh': [
    `printf '<print>it \\033[31mworks\\n</print>\\n'`,
    'touch begun',
    'while [ ! -e go ]; do sleep 0.01; done',
    `echo '<result>ok</result>'`,
  ].join('\n'),
};

test('another process sees what an agent does, until its owner ends in any way', async () => {
  const project = newProject(FLOW);
  const { store } = await surroundings({ cwd: project.folder });
  const file = project.path('.raymond/runs', ID, 'now');
  const words = async () =>
    (await store.now(ID))?.agents.map((one) => [one.agent, one.step, one.words?.text]);
  const isSeen = async () => (await words())?.length === 1;

  const killed = project.start(['.', '--workflow-id', ID]);
  await eventually('it is seen', isSeen);
  expect(await words()).toEqual([['main', 1, 'it \\x1b[31mworks']]);
  expect(statSync(file).mode & 0o777).toBe(0o600);

  killed.child.kill('SIGKILL');
  await killed.ended;
  expect(await store.now(ID)).toBeUndefined();
  expect(existsSync(file)).toBe(true);

  const resumed = project.start(['resume', ID]);
  await eventually('the adopted step is seen', isSeen);
  writeFileSync(project.path('go'), '');
  expect(await resumed.ended).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect(await store.now(ID)).toBeUndefined();
  expect(existsSync(file)).toBe(false);
});

test('a publication that cannot be written does not disturb the run', async () => {
  const project = newProject(FLOW);
  writeFileSync(project.path('go'), '');
  project.write(`.raymond/runs/${ID}/now/occupied`, '');
  const ended = await project.run(['.', '--workflow-id', ID]);
  expect(ended).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect(ended.stderr).not.toContain('receives nothing more');
});
