// When Raymond is killed, no answer that was paid for is lost, and no work is done twice.
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/execute/process/index.ts';
import { inSuite, isLong } from '../long.ts';
import { suiteAges } from './claude-sandbox.ts';
import {
  allowBash,
  answering,
  bash,
  conversationLines,
  eventsOf,
  gate,
  killHard,
  lastPrompt,
  sandboxes,
  until,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

const price = { input_tokens: 10_000, output_tokens: 1_000 };

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  const ways = inSuite<{ how: string; flags: readonly string[] }>(
    [{ how: 'kept warm', flags: [] }],
    [{ how: 'one process per prompt', flags: ['--no-warm'] }],
  );

  test.each(ways)(
    'each turn is paid once, even if Raymond is killed three times ($how)',
    async (way) => {
      const [early, middle] = [gate(), gate()];
      const { start, model, file, claude, journal, outputHas } = await sandbox({
        age,
        workflow: {
          'START.md': 'Do one.',
          'TWO.md': 'Do two.',
          'THREE.md': 'Do three.',
          'FOUR.md': 'Do four.',
          'FIVE.md': 'Do five.',
          'SIX.md': 'Do six.',
        },
        script: answering({
          'Do one.': { content: '<goto>TWO</goto>', usage: price },
          'Do two.': { content: '<goto>THREE</goto>', after: early.opened, usage: price },
          'Do three.': { content: '<goto>FOUR</goto>', usage: price },
          'Do four.': { content: '<goto>FIVE</goto>', pause: middle.opened, usage: price },
          'Do five.': { content: '<goto>SIX</goto>', usage: price },
          'Do six.': bash('echo line >> effects; until [ -e go ]; do sleep 0.05; done'),
          '[result': { content: '<result>all done</result>', usage: price },
        }),
      });
      await allowBash(claude);

      // A kill before the answer, which arrives while Raymond is dead.
      const first = start('workflow', '--workflow-id', 'r', ...way.flags);
      await model.arrived(2);
      await killHard(first.child);
      early.open();
      await outputHas('<goto>THREE</goto>');

      // A kill during the answer, which continues while a new process follows it.
      const second = start('resume', 'r');
      await model.arrived(4);
      await outputHas('<goto>FO');
      await killHard(second.child);
      const third = start('resume', 'r');
      await until(() => eventsOf(journal('r'), 'run-resumed')[1]);
      middle.open();

      // A kill during a command, which ends while a new process follows it.
      await until(() => existsSync(file('effects')));
      await killHard(third.child);
      const last = start('resume', 'r');
      await until(() => eventsOf(journal('r'), 'run-resumed')[2]);
      await writeFile(file('go'), '');

      expect(await last.finished).toMatchObject({ code: 0, stdout: 'all done\n' });
      expect(readFileSync(file('effects'), 'utf8')).toBe('line\n');
      expect(model.requests.map(lastPrompt).slice(0, 6)).toEqual([
        'Do one.',
        'Do two.',
        'Do three.',
        'Do four.',
        'Do five.',
        'Do six.',
      ]);
      expect(model.requests).toHaveLength(7);
      const costs = eventsOf(journal('r'), 'step-ended').map(({ cost }) => cost.usd.toFixed(3));
      expect(costs.slice(0, 5)).toEqual(Array(5).fill(age === 'older' ? '0.075' : '0.060'));
      expect(eventsOf(journal('r'), 'step-interrupted')).toEqual([]);
    },
  );

  test.each(ways)(
    'after a kill of Raymond and its agent, a resume continues where it was ($how)',
    async ({ flags }) => {
      let orphanLived: boolean | undefined;
      const { start, run, model, file, claude, journal, processes } = await sandbox({
        age,
        workflow: { 'START.md': 'Do one.', 'TWO.md': 'Do two.' },
        script: (request) => {
          const prompt = lastPrompt(request);
          if (prompt === 'Do one.') return { content: '<goto>TWO</goto>', usage: price };
          if (prompt === 'Do two.') {
            return bash('echo $$ > pid; echo line >> effects; sleep 300; echo late >> effects');
          }
          orphanLived = lives(Number(readFileSync(file('pid'), 'utf8')));
          return { content: '<result>went on</result>', usage: price };
        },
      });
      await allowBash(claude);
      const first = start('workflow', '--workflow-id', 'r', ...flags);
      await until(() => existsSync(file('effects')));
      await killHard(first.child);
      const agent = processes().at(-1) ?? 0;
      process.kill(-agent, 'SIGKILL');
      expect(lives(Number(readFileSync(file('pid'), 'utf8')))).toBe(true);

      expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'went on\n' });
      expect(orphanLived).toBe(false);
      expect(readFileSync(file('effects'), 'utf8')).toBe('line\n');
      const conversation = conversationLines(model.requests.at(-1));
      expect(conversation.slice(0, 3)).toEqual([
        'user: Do one.',
        'assistant: <goto>TWO</goto>',
        'user: Do two.',
      ]);
      expect(conversation.at(-1)).toContain('You were interrupted');
      expect(model.requests).toHaveLength(3);
      const [lost, ...others] = eventsOf(journal('r'), 'step-interrupted');
      expect(others).toEqual([]);
      expect(lost?.cost.usd).toBeGreaterThan(0);
      expect(lost?.repeat).toBe('continue');
      const costs = eventsOf(journal('r'), 'step-ended').map(({ cost }) => cost.usd.toFixed(3));
      expect(costs).toEqual(Array(2).fill(age === 'older' ? '0.075' : '0.060'));
    },
  );
});

test.each(suiteAges)(
  'an answer counts even if the exit of the process was not recorded (%s)',
  async (age) => {
    const answer = gate();
    const { start, run, model, file, processes, outputHas } = await sandbox({
      age,
      workflow: { 'START.md': 'Do one.' },
      script: () => ({ content: '<result>paid for</result>', after: answer.opened }),
    });
    const first = start('workflow', '--workflow-id', 'r');
    await model.arrived(1);
    await killHard(first.child);
    answer.open();
    await outputHas('"type":"result"');
    const agent = processes().at(-1) ?? 0;
    await until(() => !lives(agent));
    // The state that a full disk leaves when the wrapper writes.
    await writeFile(file(`.raymond/runs/r/steps/main/1/exit-${agent}`), '');
    expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'paid for\n' });
    expect(model.requests).toHaveLength(1);
  },
);

test.each(suiteAges)('a stop of an adopted turn ends all its processes (%s)', async (age) => {
  const { start, file, claude, journal } = await sandbox({
    age,
    workflow: { 'START.md': 'Do one.' },
    script: () => bash('echo $$ > pid; sleep 300'),
  });
  await allowBash(claude);
  const first = start('workflow', '--workflow-id', 'r');
  await until(() => existsSync(file('pid')) && readFileSync(file('pid'), 'utf8').trim());
  await killHard(first.child);
  const second = start('resume', 'r');
  await until(() => eventsOf(journal('r'), 'run-resumed')[0]);
  const command = Number(readFileSync(file('pid'), 'utf8'));
  expect(lives(command)).toBe(true);
  second.child.kill('SIGTERM');
  expect(await second.finished).toMatchObject({ code: 130 });
  expect(lives(command)).toBe(false);
  expect(eventsOf(journal('r'), 'step-interrupted')).toHaveLength(1);
});

test.each(suiteAges)('a kill while Raymond sends a long prompt loses nothing (%s)', async (age) => {
  const { start, run, model, processes } = await sandbox({
    age,
    workflow: { 'START.md': `${'A long story. '.repeat(50_000)}The end.` },
    script: ['<result>read</result>'],
  });
  const first = start('workflow', '--workflow-id', 'r');
  await until(() => processes().length > 0);
  await killHard(first.child);
  expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'read\n' });
  expect(model.requests).toHaveLength(1);
  expect(lastPrompt(model.requests[0])).toMatch(/story\. The end\.$/);
});

test('a kill while some children run and others wait for a free process loses nothing', async () => {
  const answers = gate();
  const { start, run, model, journal } = await sandbox({
    age: 'newer',
    workflow: {
      'START.sh': `for n in 1 2 3 4 5 6; do echo "<fork item='$n'>WORK</fork>"; done
echo '<goto>END</goto>'`,
      'WORK.md': 'Work on {{item}}.',
      'END.sh': "echo '<result>sent</result>'",
    },
    script: () => ({ content: '<result>worked</result>', after: answers.opened }),
  });
  const first = start('workflow', '--workflow-id', 'r', '--budget', '0');
  await model.arrived(1);
  await killHard(first.child);
  const resumed = run('resume', 'r');
  await until(() => eventsOf(journal('r'), 'run-resumed')[0]);
  answers.open();
  expect(await resumed).toMatchObject({ code: 0 });
  expect(model.requests.map(lastPrompt).sort()).toEqual(
    [1, 2, 3, 4, 5, 6].map((n) => `Work on ${n}.`),
  );
});

if (isLong)
  test('a state can restart after an interruption', async () => {
    const { start, run, model, file, claude, processes } = await sandbox({
      age: 'newer',
      workflow: { 'START.md': 'Do one.', 'TWO.md': '---\non_interrupt: restart\n---\nDo two.' },
      script: answering({
        'Do one.': '<goto>TWO</goto>',
        'Do two.': [bash('echo line >> effects; sleep 300'), '<result>anew</result>'],
      }),
    });
    await allowBash(claude);
    const first = start('workflow', '--workflow-id', 'r');
    await until(() => existsSync(file('effects')));
    await killHard(first.child);
    process.kill(-(processes().at(-1) ?? 0), 'SIGKILL');
    expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'anew\n' });
    expect(conversationLines(model.requests.at(-1))).toEqual([
      'user: Do one.',
      'assistant: <goto>TWO</goto>',
      'user: Do two.',
    ]);
  });

const lives = (pid: number) => identify(pid) !== undefined;
