/** Two hosts in one process, as in a worker: without a terminal and without an exit. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { identify } from '../../src/execute/process/index.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { processesLeft } from '../survivors.ts';
import { projectHost } from './project-host.ts';

const ASLEEP = {
  'flow/START.sh':
    'echo >>asleep; until [ -e morning ]; do sleep 0.05; done; echo "<goto>NEXT</goto>"',
  'flow/NEXT.sh': 'echo >>next; echo "<result>done</result>"',
  'other/START.sh': 'echo "<result>other</result>"',
};

test('a run changes hands: the first host leaves its step, the second completes it', async () => {
  const project = newProject(ASLEEP);
  const first = await projectHost(project.folder);
  const second = await projectHost(project.folder, identify(process.ppid));
  const losing = first.carry('r', 'flow');
  await eventually('a step sleeps', () => project.lines('asleep').length === 1);

  rmSync(project.path('.raymond', 'runs', 'r', 'lock.1'));
  const completing = second.carry('r', 'flow');
  expect(await losing).toMatchObject({ kind: 'lost', loss: { leavesSteps: true } });
  expect(project.lines('next')).toEqual([]);
  // The host continues, and carries other runs.
  expect(await first.carry('o', 'other')).toMatchObject({ run: { result: 'other' } });

  project.write('morning', '');
  expect(await completing).toMatchObject({ kind: 'ended', run: { result: 'done' } });
  expect(project.lines('asleep')).toHaveLength(1);
  expect(project.lines('next')).toHaveLength(1);
});

test('a run whose lock was removed is lost, and its steps are stopped', async () => {
  const project = newProject(ASLEEP);
  const { carry } = await projectHost(project.folder);
  const losing = carry('r', 'flow');
  await eventually('a step sleeps', () => project.lines('asleep').length === 1);
  rmSync(project.path('.raymond', 'runs', 'r', 'lock.1'));
  expect(await losing).toMatchObject({ kind: 'lost', loss: { leavesSteps: false } });
  expect(await processesLeft(project.folder)).toEqual([]);
  expect(project.lines('next')).toEqual([]);
});
