// Checks how a user watches, answers and stops an agent.
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/execute/process/index.ts';
import { suiteAges } from './claude-sandbox.ts';
import {
  allowBash,
  answering,
  bash,
  conversationLines,
  eventsOf,
  sandboxes,
  until,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

test('a question waits for its answer, and then the conversation continues', async () => {
  const { run, model } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': 'Do one.', 'NEXT.md': 'They say {{input}}.' },
    script: answering({
      'Do one.': '<ask next="NEXT">Which colour?</ask>',
      'They say': '<result>painted</result>',
    }),
  });
  const { code, stderr } = await run('workflow', '--workflow-id', 'r');
  expect(code).toBe(2);
  expect(stderr).toContain('[raymond answer r "..."]: Which colour?');
  expect(await run('answer', 'r', 'blue')).toMatchObject({ code: 0 });
  expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'painted\n' });
  expect(conversationLines(model.requests[1])).toEqual([
    'user: Do one.',
    'assistant: <ask next="NEXT">Which colour?</ask>',
    'user: They say blue.',
  ]);
});

test('--verbose shows the texts and tool calls of the agent', async () => {
  const { run } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': 'Work.' },
    script: [
      {
        content: [
          { type: 'text', text: 'I make a file. <print>Making it</print>' },
          { type: 'tool_use', name: 'Bash', input: { command: 'touch made' } },
        ],
      },
      'There it is. <result>made</result>',
    ],
  });
  const { stderr } = await run('workflow', '--verbose');
  expect(stderr).toMatch(/main +\| I make a file\./);
  expect(stderr).toMatch(/main +\| Making it\n/);
  expect(stderr).toMatch(/main +> Bash touch made\n/);
  expect(stderr).toMatch(/main +\| There it is\./);
});

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  const working = async () => {
    const world = await sandbox({
      age,
      workflow: { 'START.md': 'Do one.', 'TWO.md': 'Do two.' },
      script: answering({
        'Do one.': bash('echo $$ > pid; sleep 300 & until [ -e go ]; do sleep 0.05; done'),
        '[result': '<goto>TWO</goto>',
        'Do two.': '<result>two</result>',
        'You were interrupted': '<result>went on</result>',
      }),
    });
    await allowBash(world.claude);
    const started = world.start('workflow', '--workflow-id', 'r');
    const pid = await until(
      () => existsSync(world.file('pid')) && Number(readFileSync(world.file('pid'), 'utf8')),
    );
    return { ...world, ...started, pid };
  };

  test.each<[string, readonly NodeJS.Signals[]]>([
    ['two Ctrl-C', ['SIGINT', 'SIGINT']],
    ['SIGTERM', ['SIGTERM']],
  ])('%s stops the agent and its commands, and a resume continues', async (_, signals) => {
    const { child, finished, pid, stderr, processes, run, journal } = await working();
    for (const [index, signal] of signals.entries()) {
      child.kill(signal);
      if (index < signals.length - 1) await until(() => stderr().includes('running ones may'));
    }
    expect(await finished).toMatchObject({ code: 130 });
    expect([pid, ...processes()].filter((each) => identify(each))).toEqual([]);
    expect(eventsOf(journal('r'), 'step-interrupted')[0]?.cost.usd).toBeGreaterThan(0);
    expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'went on\n' });
  });

  test('after one Ctrl-C the step finishes, and no other step starts', async () => {
    const { child, finished, stderr, file, processes, model, run } = await working();
    child.kill('SIGINT');
    await until(() => stderr().includes('running ones may finish'));
    await writeFile(file('go'), '');
    expect(await finished).toMatchObject({ code: 130 });
    expect(processes().filter((each) => identify(each))).toEqual([]);
    expect(model.requests).toHaveLength(2);
    expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'two\n' });
    expect(model.requests).toHaveLength(3);
  });
});
