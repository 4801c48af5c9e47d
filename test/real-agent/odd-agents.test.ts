// Unusual agents: very long output, no output, unexpected output, or a process that does not exit.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { identify } from '../../src/execute/process/index.ts';
import { inSuite } from '../long.ts';
import { fakeClaude } from './fake-claude.ts';
import { conversationLines, eventsOf, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

async function playing(play: string, more: Parameters<typeof fakeClaude>[1] = {}) {
  const fake = await fakeClaude(play, more);
  const world = await sandbox({
    age: 'newer',
    workflow: { 'START.md': 'Do one.' },
    script: [],
    environment: { ...fake.environment, RAYMOND_RETRY_PAUSES_MS: '1' },
  });
  return { fake, ...world };
}

test.each([
  { how: 'kept warm', flags: [], turns: 50 },
  { how: 'one process per prompt', flags: ['--no-warm'], turns: 2 },
])('prompts of 300 KB arrive complete: $turns ($how)', async ({ flags, turns }) => {
  const { fake, run, file } = await playing('answers', { turns });
  const prompt = Array.from({ length: 10_000 }, (_, n) => `Line ${n} of «many» words 😀`).join(
    '\n',
  );
  expect(Buffer.byteLength(prompt)).toBeGreaterThan(300_000);
  await writeFile(file('workflow/START.md'), prompt);
  expect(await run('workflow', '--budget', '0', ...flags)).toMatchObject({ code: 0 });
  const hash = createHash('sha256').update(prompt).digest('hex');
  expect(fake.entries('prompt').map((entry) => entry.hash)).toEqual(Array(turns).fill(hash));
});

test.each([
  ['talks much', []],
  ['says all in one line', []],
  ['is strange', []],
  ['gives two results', ['--no-warm']],
])('understands an agent that %s', async (play, flags) => {
  const { run } = await playing(play);
  expect(await run('workflow', ...flags)).toMatchObject({ code: 0, stdout: 'done\n' });
});

test.each(inSuite<[readonly string[]]>([[[]]], [[['--no-warm']]]))(
  'a result counts even if its process does not exit %j',
  async (flags) => {
    const { fake, run, processes } = await playing('does not exit');
    const { code, stdout } = await run('workflow', ...flags);
    expect([code, stdout]).toEqual([0, 'done\n']);
    const left = [...fake.entries('busy'), ...fake.entries('spawned')].map(({ pid = 0 }) => pid);
    expect([...left, ...processes()].filter((pid) => identify(pid))).toEqual([]);
  },
);

test.each([
  { play: 'answers', processes: 1 },
  { play: 'refuses changes', processes: 2 },
])(
  'a changed setting needs this number of processes: $processes, when the agent $play',
  async ({ play, processes }) => {
    const { fake, run, file } = await playing(play, { turns: 2, next: 'TWO' });
    await writeFile(file('workflow/TWO.md'), '---\npermission_mode: plan\n---\nDo two.');
    expect(await run('workflow')).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(fake.entries('change').map(({ argv }) => argv)).toEqual([['set_permission_mode']]);
    const modes = fake.argvs().map((argv) => argv[argv.indexOf('--permission-mode') + 1]);
    expect(modes).toEqual(['acceptEdits', 'plan'].slice(0, processes));
  },
);

test('an exit without a result is a crash', async () => {
  const { fake, run, journal } = await playing('exits without a result');
  const { code, stderr } = await run('workflow', '--workflow-id', 'r');
  expect(code).toBe(1);
  expect(stderr).toContain('Claude Code ended without a result (exit code 0)');
  expect(fake.entries('spawned')).toHaveLength(2);
  const failures = eventsOf(journal('r'), 'step-failed').map(({ failure }) => failure.kind);
  expect(failures).toEqual(['crashed', 'crashed']);
});

test('a silent step is stopped with all its processes', async () => {
  const { fake, run, journal, processes } = await playing('is silent');
  const { code, stderr } = await run('workflow', '--workflow-id', 'r', '--timeout', '1');
  expect(code).toBe(1);
  expect(stderr).toContain('START.md was silent for 1 s and was stopped');
  const failures = eventsOf(journal('r'), 'step-failed').map(({ failure }) => failure.kind);
  expect(failures).toEqual(['idle', 'idle']);
  const left = [...fake.entries('busy'), ...fake.entries('spawned')].map(({ pid = 0 }) => pid);
  expect([...left, ...processes()].filter((pid) => identify(pid))).toEqual([]);
});

test('at most one process per core starts at the same time', async () => {
  const { fake, run, file } = await playing('starts slowly');
  const children = availableParallelism() * 2 + 2;
  const forks = Array.from({ length: children }, () => '<fork>WORK</fork>').join('');
  await writeFile(file('workflow/WORK.md'), 'Work.');
  await writeFile(file('workflow/DISPATCH.sh'), `echo '${forks}<goto>END</goto>'`);
  await writeFile(file('workflow/END.sh'), "echo '<result>sent</result>'");
  const args = ['--budget', '0', '--max-parallel', String(children)];
  expect(await run('workflow/DISPATCH', ...args)).toMatchObject({ code: 0 });
  const together = fake.entries('together').map(({ count = 0 }) => count);
  expect(together).toHaveLength(children);
  expect(Math.max(...together)).toBeLessThanOrEqual(availableParallelism());
});

test('waiting processes count towards the limit of parallel prompts', async () => {
  const children = 20;
  const { fake, run, file } = await playing('answers', { turns: children + 1, next: 'MORE' });
  const forks = Array.from({ length: children }, () => '<fork>WORK</fork>').join('');
  await writeFile(file('workflow/WORK.md'), 'Work.');
  await writeFile(file('workflow/MORE.md'), 'Work more.');
  await writeFile(file('workflow/DISPATCH.sh'), `echo '${forks}<goto>END</goto>'`);
  await writeFile(file('workflow/END.sh'), "echo '<result>sent</result>'");
  const args = ['--budget', '0', '--max-parallel', '3'];
  expect(await run('workflow/DISPATCH.sh', ...args)).toMatchObject({ code: 0 });
  expect(fake.entries('prompt').length).toBeGreaterThan(children);
  const alive = fake.entries('alive').map(({ count = 0 }) => count);
  expect(Math.max(...alive)).toBeLessThanOrEqual(3);
});

test('a slash command and a mention of a file stay text', async () => {
  const { run, model, file } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': '/context of @secret.txt', 'NEXT.md': '/clear' },
    script: ['<goto>NEXT</goto>', '<result>read</result>'],
  });
  await writeFile(file('secret.txt'), 'CONTENT OF THE FILE');
  expect(await run('workflow')).toMatchObject({ code: 0 });
  expect(conversationLines(model.requests[1])).toEqual([
    'user: /context of @secret.txt',
    'assistant: <goto>NEXT</goto>',
    'user: /clear',
  ]);
  expect(JSON.stringify(model.requests)).not.toContain('CONTENT OF THE FILE');
});
