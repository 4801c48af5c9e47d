/** A stopped run leaves no process running and can be resumed, however it was stopped. */
import { expect, test } from 'vitest';
import { stopNow } from '../../src/world/stop-here.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { eventually } from '../eventually.ts';
import { isLong } from '../long.ts';
import type { Started } from '../raymond.ts';
import { processesLeft, survivors } from '../survivors.ts';
import { Crew } from './crew.ts';

const byNumber = (a: string, b: string) => Number(a) - Number(b);

const drains = (life: Started) =>
  eventually('it stops starting steps', () => life.stderr().includes('no new step starts'));

// Of processes that are stopped together, test/processes/stop-tests.ts always has 50.
const MANY = isLong ? 50 : 8;

const inAHurry: readonly [string, number, (life: Started, crew: Crew) => Promise<unknown>][] = [
  ['SIGTERM', MANY, async ({ child }) => child.kill('SIGTERM')],
  [
    'Ctrl-C twice',
    MANY,
    async (life) => {
      life.child.kill('SIGINT');
      await drains(life);
      life.child.kill('SIGINT');
    },
  ],
  ['SIGHUP', 4, async ({ child }) => child.kill('SIGHUP')],
  ['raymond stop --now', 4, (_, { project }) => project.run(['stop', 'crew', '--now'])],
];

test.each(inAHurry)('%s, with %d children', async (_, size, stop) => {
  const crew = new Crew(size);
  const life = crew.start();
  await crew.gathered(1 + Math.floor(Math.random() * size));
  await stop(life, crew);
  expect(await life.ended).toMatchObject({ code: 130, signal: null });
  expect(await processesLeft(crew.project.folder)).toEqual([]);
  expect(crew.done()).toEqual([]);
  expect(crew.events('run-ended')).toMatchObject([{ outcome: 'interrupted' }]);

  crew.openGate();
  expect(await crew.resume().ended).toMatchObject({ code: 0, stdout: 'all are sent\n' });
  expect(crew.done().sort(byNumber)).toEqual(crew.numbers());
  expect(await processesLeft(crew.project.folder)).toEqual([]);
});

const inPeace: readonly [string, (life: Started, crew: Crew) => void][] = [
  ['one Ctrl-C', ({ child }) => child.kill('SIGINT')],
  ['raymond stop', (_, { project }) => void project.start(['stop', 'crew'])],
];

test.each(inPeace)('%s lets running steps finish, and starts none', async (_, stop) => {
  const crew = new Crew(5);
  const life = crew.start();
  await crew.gathered();
  await eventually('MAIN has ended', () => crew.events('agent-ended').length === 1);
  stop(life, crew);
  await drains(life);
  const before = crew.events('step-started').length;
  await eventually('all went through the gate', () => {
    crew.openGate();
    return crew.events('step-ended').length === before;
  });
  expect(await life.ended).toMatchObject({ code: 130, signal: null });
  expect(crew.events('step-started')).toHaveLength(before);
  expect(crew.done()).toEqual([]);
  expect(await processesLeft(crew.project.folder)).toEqual([]);

  expect(await crew.resume().ended).toMatchObject({ code: 0 });
  expect(crew.done().sort(byNumber)).toEqual(crew.numbers());
  expect(crew.here()).toHaveLength(5);
});

test('a stop that comes too late does not stop the next process', async () => {
  const crew = new Crew(2);
  const life = crew.start();
  await crew.gathered();
  // It can no longer act, as if it had crashed before the message arrived.
  life.child.kill('SIGSTOP');
  expect(await crew.project.run(['stop', 'crew'])).toMatchObject({ code: 1 });
  life.child.kill('SIGKILL');
  await life.ended;
  const next = crew.resume();
  await crew.letThrough();
  expect(await next.ended).toMatchObject({ code: 0 });
  expect(crew.here()).toHaveLength(2);
});

test('stop does not wait for a suspended process, which stops when it is continued', async () => {
  const crew = new Crew(2);
  const life = crew.start();
  await crew.gathered();
  life.child.kill('SIGSTOP');
  const { code, stderr } = await crew.project.run(['stop', 'crew']);
  expect(code).toBe(1);
  expect(stderr).toContain(`Process ${life.pid} works on crew, but it is suspended`);
  expect(stderr).toContain(`kill -CONT ${life.pid}`);
  life.child.kill('SIGCONT');
  await drains(life);
  crew.openGate();
  expect(await life.ended).toMatchObject({ code: 130 });
});

test('stop --now continues a suspended process to stop it', async () => {
  const crew = new Crew(2);
  const life = crew.start();
  await crew.gathered();
  life.child.kill('SIGSTOP');
  expect(await crew.project.run(['stop', 'crew', '--now'])).toMatchObject({ code: 0 });
  expect(await life.ended).toMatchObject({ code: 130 });
  expect(await processesLeft(crew.project.folder)).toEqual([]);
});

test('stop --now kills a process that does not react, and all processes of the run', async () => {
  const crew = new Crew(2);
  const life = crew.start();
  await crew.gathered();
  const around = await surroundings({ cwd: crew.project.folder });
  const owner = await around.store.owner('crew');
  if (owner?.pid !== life.pid) throw new Error('It has ended.');
  // It got no message, so it has no reason to stop.
  expect(await stopNow(around, 'crew', owner, 50)).toBe('killed');
  expect(await life.ended).toMatchObject({ signal: 'SIGKILL' });
  expect(await processesLeft(crew.project.folder)).toEqual([]);

  crew.openGate();
  const resumed = await crew.resume().ended;
  expect(resumed).toMatchObject({ code: 0, stdout: 'all are sent\n' });
});

test('stop --now ends the steps of a killed process', async () => {
  const crew = new Crew(2);
  const life = crew.start();
  await crew.gathered();
  life.child.kill('SIGKILL');
  await life.ended;
  const asked = await crew.project.run(['stop', 'crew']);
  expect(asked.code).toBe(64);
  expect(asked.stderr).toMatch(/No process works on crew, but \d+ processes that it started/);
  expect(survivors(crew.project.folder)).not.toEqual([]);

  expect(await crew.project.run(['stop', 'crew', '--now'])).toMatchObject({ code: 0 });
  expect(await processesLeft(crew.project.folder)).toEqual([]);
  expect(await crew.project.run(['stop', 'crew', '--now'])).toMatchObject({ code: 64 });

  crew.openGate();
  expect(await crew.resume().ended).toMatchObject({ code: 0, stdout: 'all are sent\n' });
  expect(crew.here().slice(2).sort()).toEqual(['1 try 2', '2 try 2']);
});

test('of two processes that resume a run one is refused; after a kill, the next one continues', async () => {
  const crew = new Crew(2);
  const first = crew.start();
  await crew.gathered();
  expect(await crew.resume().ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`Process ${first.pid} is working on the run crew.`),
  });
  first.child.kill('SIGKILL');
  await first.ended;

  const both = [crew.resume(), crew.resume()];
  const refused = await Promise.race(both.map((life) => life.ended));
  const owner = both.find(({ child }) => child.exitCode === null);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain(`Process ${owner?.pid} is working on the run`);
  await crew.letThrough();
  expect(await owner?.ended).toMatchObject({ code: 0 });
  expect(crew.here()).toHaveLength(2);
});
