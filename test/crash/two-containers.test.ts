/** Two containers share a volume. The processes cannot see each other, and must not work on the same run. */
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { stopNow } from '../../src/world/stop-here.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { containerCommand, firstProcessOf } from '../container.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { processesLeft } from '../survivors.ts';

const FLOW = {
  'flow/START.sh': `echo "try $RAYMOND_ATTEMPT" >>tries
until [ -e morning ]; do sleep 0.05; done
echo '<goto>NEXT</goto>'`,
  'flow/NEXT.sh': 'echo >>next; echo "<result>done</result>"',
};
const START = ['flow', '--workflow-id', 'r', '--no-debug'];
const RESUME = ['resume', 'r', '--no-debug'];

/** A Raymond process in a separate container. */
function inContainer(project: Project, args: readonly string[]) {
  const life = project.start(args, { within: containerCommand() });
  return {
    ...life,
    kill: (signal: NodeJS.Signals) => process.kill(firstProcessOf(life.pid), signal),
  };
}

async function begun(project: Project) {
  const life = inContainer(project, START);
  await eventually('the step runs', () => project.lines('tries').length === 1);
  return life;
}

/**
 * Makes the last heartbeat of the owner two minutes old, from before a restart of the machine.
 * Raymond would first watch an owner that is only silent.
 */
function makeSilent(project: Project, generation: number): void {
  const file = project.path('.raymond', 'runs', 'r', `lock.${generation}`);
  const text = readFileSync(file, 'utf8');
  const { beat, boot } = JSON.parse(text);
  const before = text.replace(boot, boot.replaceAll(/[0-9a-f]/g, '0'));
  writeFileSync(file, before.replace(String(beat), String(beat - 120_000)));
}

function isWhole(project: Project): void {
  const seqs = project.journal('r').map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
}

const elsewhere = `process 1 on ${hostname()}, in another container or on another machine`;

test('a run that a process in one container works on is refused everywhere else', async () => {
  const project = newProject(FLOW);
  const first = await begun(project);
  for (const within of [containerCommand(), []]) {
    const refused = await project.run(RESUME, { within });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`The run r belongs to ${elsewhere}.`);
    expect(refused.stderr).toContain('raymond stop r');
  }
  expect((await project.run(['list'])).stdout).toMatch(/^r +running/m);
  expect((await project.run(['prune', 'r'])).code).not.toBe(0);
  project.write('morning', '');
  expect(await first.ended).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(project.lines('tries')).toEqual(['try 1']);
  isWhole(project);
});

test('it can be stopped from the other container', async () => {
  const project = newProject(FLOW);
  const first = await begun(project);
  const stopped = await project.run(['stop', 'r', '--now'], { within: containerCommand() });
  expect(stopped).toMatchObject({ code: 0 });
  expect(await first.ended).toMatchObject({ code: 130 });
  expect(await processesLeft(project.folder)).toEqual([]);
});

test('an owner in another container is not killed by its pid, which belongs to a different process here', async () => {
  const project = newProject(FLOW);
  const first = await begun(project);
  first.kill('SIGSTOP');
  const around = await surroundings({ cwd: project.folder });
  const owner = await around.store.owner('r');
  if (!owner) throw new Error('The run has an owner.');
  expect(owner.pid).toBe(1);
  await expect(stopNow(around, 'r', owner, 50)).rejects.toMatchObject({
    code: 'run-out-of-reach',
    message: expect.stringContaining(elsewhere),
  });
  first.kill('SIGCONT');
  project.write('morning', '');
  expect(await first.ended).toMatchObject({ code: 0 });
});

test('a run whose container died continues elsewhere, as soon as its owner is silent', async () => {
  const project = newProject(FLOW);
  const first = await begun(project);
  first.kill('SIGKILL');
  await first.ended;
  expect(await processesLeft(project.folder)).toEqual([]);
  // Not in a new container: it may get the name of the old one, which would then be seen as dead.
  const tooEarly = await project.run(RESUME);
  expect(tooEarly.code).toBe(1);
  expect(tooEarly.stderr).toMatch(/If that process no longer exists, try again in \d+ s\./);

  makeSilent(project, 1);
  expect((await project.run(['list'])).stdout).toMatch(/^r +crashed/m);
  project.write('morning', '');
  const second = await project.run(RESUME);
  expect(second).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(project.lines('tries')).toEqual(['try 1', 'try 2']);
  isWhole(project);
});

test('an owner that wakes up after a takeover notices it, and stops only its own steps', async () => {
  const project = newProject(FLOW);
  const first = await begun(project);
  first.kill('SIGSTOP');
  makeSilent(project, 1);
  const second = inContainer(project, RESUME);
  await eventually('the second one has begun', () => project.lines('tries').length === 2);

  first.kill('SIGCONT');
  const { code, stdout, stderr } = await first.ended;
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toContain(`Process 1 on ${hostname()} has taken over the run r`);
  expect(stderr).not.toContain('This is a bug');

  project.write('morning', '');
  expect(await second.ended).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(project.lines('tries')).toEqual(['try 1', 'try 2']);
  expect(project.lines('next')).toHaveLength(1);
  expect(await processesLeft(project.folder)).toEqual([]);
  isWhole(project);
  expect((await project.run(['show', 'r'])).stdout).toContain('completed');
});

test('who shuts the container down has not decided against the run', async () => {
  const project = newProject(FLOW);
  const first = await begun(project);
  first.kill('SIGTERM');
  expect(await first.ended).toMatchObject({ code: 130 });
  expect((await project.run(['list'])).stdout).toMatch(/^r +stopped .*by a shutdown$/m);
  expect(await processesLeft(project.folder)).toEqual([]);
  project.write('morning', '');
  expect(await project.run(RESUME)).toMatchObject({ code: 0, stdout: 'done\n' });
});
