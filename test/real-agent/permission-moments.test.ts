// Kills Raymond at the worst moments of a permission request.
import type { ChildProcess } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inSuite } from '../long.ts';
import { askedIn, call, living, timesOf } from './asking-run.ts';
import { type Age, claudeBinary, suiteAges } from './claude-sandbox.ts';
import {
  answering,
  bash,
  eventsOf,
  killHard,
  type RaymondSandbox,
  sandboxes,
  until,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

/** Raymond stays while WAIT works. */
const CREW = {
  'START.sh': `echo '<fork next="WAIT">WORK</fork>'`,
  'WAIT.sh': `until [ -e go ]; do sleep 0.05; done; echo '<result>waited</result>'`,
  'WORK.md': 'Do one.',
};
const OPTIONS = ['--workflow-id', 'r', '--ask-permissions'];
/** A test with several processes on a busy machine. */
const LONG_MS = 300_000;

const answered = ({ journal }: RaymondSandbox) => eventsOf(journal('r'), 'permission-answered');
const go = ({ file }: RaymondSandbox) => writeFileSync(file('go'), '');
const STEP = '.raymond/runs/r/steps/main_work1/1';
const signal = ({ file }: RaymondSandbox, name: NodeJS.Signals) => {
  const { identity } = JSON.parse(readFileSync(file(`${STEP}/process.json`), 'utf8'));
  // The agent is the only child of its wrapper.
  const children = `/proc/${identity.pid}/task/${identity.pid}/children`;
  process.kill(Number(readFileSync(children, 'utf8')), name);
};

async function asking(age: Age) {
  const world = await sandbox({
    age,
    workflow: CREW,
    script: answering({ 'Do one.': call('made'), '[result': '<result>done</result>' }),
  });
  const { child } = world.start('workflow', ...OPTIONS);
  await until(() => askedIn(world).length === 1);
  return { world, child };
}

/** The agent gets a decision, but does not read it. Then Raymond dies. */
async function decideUnread(world: RaymondSandbox, child: ChildProcess, word: string) {
  signal(world, 'SIGSTOP');
  await world.run('answer', 'r', word);
  await until(() => answered(world).length === 1);
  // The next round of the loop: Raymond has sent the decision.
  go(world);
  await until(() => eventsOf(world.journal('r'), 'agent-ended').length === 1);
  await killHard(child);
}

async function sentAgain(age: Age, word: string, times: number) {
  const { world, child } = await asking(age);
  await decideUnread(world, child, word);
  const second = world.start('resume', 'r');
  await until(() => eventsOf(world.journal('r'), 'run-resumed').length === 1);
  signal(world, 'SIGCONT');
  expect(await second.finished).toMatchObject({ code: 0 });
  expect(timesOf(world, 'made')).toBe(times);
  expect(world.model.requests).toHaveLength(2);
  expect(living(world)).toEqual([]);
}

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('a decision that was recorded and never sent reaches the agent', async () => {
    const { world, child } = await asking(age);
    await killHard(child);
    // This process finds no way to the agent.
    const fifo = world.file(`${STEP}/stdin`);
    renameSync(fifo, `${fifo}.hidden`);
    await world.run('answer', 'r', 'allow');
    const second = world.start('resume', 'r');
    await until(() => answered(world).length === 1);
    await killHard(second.child);
    renameSync(`${fifo}.hidden`, fifo);
    expect(timesOf(world, 'made')).toBe(0);
    go(world);
    expect(await world.run('resume', 'r')).toMatchObject({ code: 0 });
    expect(timesOf(world, 'made')).toBe(1);
    expect(world.model.requests).toHaveLength(2);
    expect(living(world)).toEqual([]);
  });

  test.each(inSuite<[string, number]>([['allow', 1]], [['deny', 0]]))(
    '"%s" was sent, and is sent again before the agent reads it',
    (word, times) => sentAgain(age, word, times),
  );
});

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  /** More than a FIFO holds, so that a part of the line waits in Raymond. */
  const LARGE = 'x'.repeat(200_000);

  test(
    'half a decision in the FIFO decides nothing, and the turn asks again',
    async () => {
      const world = await sandbox({
        age,
        workflow: CREW,
        script: answering({
          '[result': '<result>done</result>',
          // The prompt, and the words that continue it.
          '': bash('curl --version >>made', LARGE),
        }),
      });
      const { child } = world.start('workflow', ...OPTIONS);
      await until(() => askedIn(world).length === 1);
      await decideUnread(world, child, 'allow');
      signal(world, 'SIGCONT');
      expect(await world.run('resume', 'r')).toMatchObject({ code: 2 });
      expect(timesOf(world, 'made')).toBe(0);
      await world.run('answer', 'r', 'allow');
      expect(await world.run('resume', 'r')).toMatchObject({ code: 0 });
      expect(timesOf(world, 'made')).toBe(1);
    },
    LONG_MS,
  );

  test.each(inSuite(['a part of the prompt'], ['no prompt']))(
    'an agent with %s begins after the resume',
    async (what) => {
      const isTorn = what !== 'no prompt';
      // The agent reads its input only when the gate is open.
      const folder = mkdtempSync(join(tmpdir(), 'raymond-gate-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const [gate, agent] = [join(folder, 'gate'), join(folder, 'claude')];
      const text = `#!/bin/sh\nuntil [ -e ${gate} ]; do sleep 0.05; done\nexec ${claudeBinary(age)} "$@"\n`;
      writeFileSync(agent, text, { mode: 0o755 });
      const world = await sandbox({
        age,
        workflow: { 'START.md': isTorn ? `Do one. ${LARGE}` : 'Do one.' },
        script: answering({ 'Do one.': '<result>done</result>' }),
        environment: { RAYMOND_CLAUDE: agent },
      });
      const { child } = world.start('workflow', ...OPTIONS);
      const step = world.file('.raymond/runs/r/steps/main/1');
      await until(() => existsSync(`${step}/prompt`));
      await killHard(child);
      if (!isTorn) expect(takeAll(`${step}/stdin`)).toContain('Do one.');
      writeFileSync(gate, '');
      expect(await world.run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
      expect(world.model.requests).toHaveLength(1);
    },
    LONG_MS,
  );
});

/** Empties a FIFO. */
function takeAll(path: string): string {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(65_536);
  const length = readSync(descriptor, buffer);
  closeSync(descriptor);
  return buffer.toString('utf8', 0, length);
}
