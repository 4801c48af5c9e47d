// Nothing that was paid for is lost when Raymond is killed, and nothing is done twice.
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/execute/process/index.ts';
import { ages } from './claude-sandbox.ts';
import {
  allowBash,
  answering,
  bash,
  eventsOf,
  killHard,
  lastPrompt,
  said,
  sandboxes,
  until,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

const price = { input_tokens: 10_000, output_tokens: 1_000 };

describe.each(ages)('with the %s Claude Code', (age) => {
  const ways = [
    { how: 'kept warm', flags: [] },
    { how: 'one process per prompt', flags: ['--no-warm'] },
  ];

  test.each(ways)('Raymond is killed thrice, and each turn is paid once ($how)', async (way) => {
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

    // Before the answer, which comes while nobody is there.
    const first = start('workflow', '--workflow-id', 'r', ...way.flags);
    await model.arrived(2);
    await killHard(first.child);
    early.open();
    await outputHas('<goto>THREE</goto>');

    // In the middle of the answer, which goes on while it is followed again.
    const second = start('resume', 'r');
    await model.arrived(4);
    await outputHas('<goto>FO');
    await killHard(second.child);
    const third = start('resume', 'r');
    await until(() => eventsOf(journal('r'), 'run-resumed')[1]);
    middle.open();

    // During a command, which ends while it is followed again.
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
    const costs = eventsOf(journal('r'), 'step-ended').map(({ costUsd }) => costUsd.toFixed(3));
    expect(costs.slice(0, 5)).toEqual(Array(5).fill(age === 'older' ? '0.075' : '0.060'));
    expect(eventsOf(journal('r'), 'step-interrupted')).toEqual([]);
  });

  test.each(ways)(
    'Raymond and its agent are killed, and it goes on where it was ($how)',
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
      const conversation = said(model.requests.at(-1));
      expect(conversation.slice(0, 3)).toEqual([
        'user: Do one.',
        'assistant: <goto>TWO</goto>',
        'user: Do two.',
      ]);
      expect(conversation.at(-1)).toContain('You were interrupted');
      expect(model.requests).toHaveLength(3);
      const [lost, ...others] = eventsOf(journal('r'), 'step-interrupted');
      expect(others).toEqual([]);
      expect(lost?.costUsd).toBeGreaterThan(0);
      expect(lost?.goesOn).toBe('continue');
      const costs = eventsOf(journal('r'), 'step-ended').map(({ costUsd }) => costUsd.toFixed(3));
      expect(costs).toEqual(Array(2).fill(age === 'older' ? '0.075' : '0.060'));
    },
  );
});

test.each(ages)('an answer counts although the end was not recorded (%s)', async (age) => {
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
  // As a disk leaves it that is full when the wrapper writes.
  await writeFile(file(`.raymond/runs/r/steps/main/1/exit-${agent}`), '');
  expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'paid for\n' });
  expect(model.requests).toHaveLength(1);
});

test.each(ages)('an adopted turn is stopped with all that it started (%s)', async (age) => {
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

test.each(ages)('Raymond is killed while it hands over a long prompt (%s)', async (age) => {
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

test('Raymond is killed while some workers are asked and others wait for a place', async () => {
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

test('a state may begin anew after an interruption', async () => {
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
  expect(said(model.requests.at(-1))).toEqual([
    'user: Do one.',
    'assistant: <goto>TWO</goto>',
    'user: Do two.',
  ]);
});

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const lives = (pid: number) => identify(pid) !== undefined;
