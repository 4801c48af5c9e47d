// Background jobs of an agent belong to its run, and end with the run at the latest.
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/execute/process/index.ts';
import { isLong } from '../long.ts';
import { suiteAges } from './claude-sandbox.ts';
import {
  allowBash,
  answering,
  bash,
  killHard,
  type RaymondSandbox,
  sandboxes,
  until,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

/** A normal job, and one without environment, descriptors and session of the step. */
const START_JOBS = `
nohup sleep 600 >/dev/null 2>&1 &
echo $! >job
env -i setsid nohup bash -c 'echo $$ >nameless; exec 1>&- 2>&- sleep 600' <&- >/dev/null 2>&1 &
until [ -s nameless ]; do sleep 0.02; done
echo started`;

describe.each(suiteAges)('with the %s Claude Code, kept warm', (age) => {
  const world = () =>
    sandbox({
      age,
      workflow: {
        'START.md': 'Start jobs.',
        'WAIT.sh': `echo >waits; until [ -e go ]; do sleep 0.05; done; echo '<result>ok</result>'`,
      },
      script: answering({
        'Start jobs.': bash(START_JOBS),
        started: '<goto>WAIT</goto>',
      }),
    });

  test('its jobs run while the run works, and end with it', async () => {
    const { start, file, jobs } = await withJobs(await world());
    const life = start('workflow', '--workflow-id', 'r');
    await until(() => existsSync(file('waits')));
    expect(jobs().map(lives)).toEqual([true, true]);
    await writeFile(file('go'), '');
    expect(await life.finished).toMatchObject({ code: 0, stdout: 'ok\n' });
    expect(jobs().map(lives)).toEqual([false, false]);
  });

  test('they end at the resume if Raymond was killed', async () => {
    const { start, file, jobs, processes } = await withJobs(await world());
    const first = start('workflow', '--workflow-id', 'r');
    await until(() => existsSync(file('waits')));
    await killHard(first.child);
    const agent = processes()[0] ?? 0;
    await until(() => !lives(agent));
    expect(jobs().map(lives)).toEqual([true, true]);

    const second = start('resume', 'r');
    await until(() => !jobs().some(lives));
    await writeFile(file('go'), '');
    expect(await second.finished).toMatchObject({ code: 0, stdout: 'ok\n' });
  });

  if (isLong)
    test('they end at a prune if Raymond was killed', async () => {
      const { start, run, file, jobs } = await withJobs(await world());
      const first = start('workflow', '--workflow-id', 'r');
      await until(() => existsSync(file('waits')));
      await killHard(first.child);
      expect(jobs().map(lives)).toEqual([true, true]);
      expect(await run('prune', 'r')).toMatchObject({ code: 0 });
      expect(jobs().map(lives)).toEqual([false, false]);
    });
});

async function withJobs(world: RaymondSandbox) {
  await allowBash(world.claude);
  const pid = (name: string) => Number(readFileSync(world.file(name), 'utf8'));
  return { ...world, jobs: () => ['job', 'nameless'].map(pid) };
}

const lives = (pid: number) => identify(pid) !== undefined;
