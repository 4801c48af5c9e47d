import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';

const may = (entries: string, more = '') =>
  `---\nallowed_transitions: [${entries}]\n${more}---\nGo on.`;
const FLOW = {
  'flow/START.md': may('{ tag: goto, target: REVIEW }'),
  'flow/REVIEW.md': may('{ tag: goto, target: START }, { tag: result }'),
  'limited/START.md': may('{ tag: goto, target: REVIEW }'),
  'limited/REVIEW.md': may('{ tag: goto, target: START }, { tag: result }', 'max_visits: 2\n'),
  'maybe/START.sh': `[ -e x ] && echo '<goto>END</goto>' || echo '<result>x</result>'`,
  'maybe/END.md': may('{ tag: result }'),
  'script/START.sh': `echo '<result>done</result>'`,
  'calls/START.md': may('{ tag: function-workflow, path: ../limited, return: END }'),
  'calls/END.md': may('{ tag: result }'),
};

test('the bound of a workflow, and which loop has none', async () => {
  const project = newProject(FLOW);
  const limited = await command(project, ['bound', 'limited', '--turn', '0.50']);
  expect(limited).toMatchObject({ code: 0, stderr: '' });
  expect(limited.stdout).toContain('A run uses at most 20 prompts, about $10.00.\n');
  expect(limited.stdout).toContain('20 prompts, ~$10.00: (START.md, REVIEW.md) repeated\n');
  expect(limited.stdout).toContain('so that 80 prompts may start');
  const endless = await command(project, ['bound', 'flow']);
  expect(endless.code).toBe(1);
  expect(endless.stdout).toContain(
    'START.md → REVIEW.md → START.md can repeat without a limit. max_visits for START.md would limit it.',
  );
  expect(endless.stdout).toContain('budget   $10.00 stops a run at the latest');
  const fewer = await command(project, ['bound', 'flow', '--max-iterations', '3', '--json']);
  expect(JSON.parse(fewer.stdout)).toMatchObject({ prompts: 12, agents: 1, budget_usd: 10 });
  const calls = await command(project, ['bound', 'calls', '--json']);
  expect(JSON.parse(calls.stdout)).toMatchObject({ prompts: 24 });
});

test.each([
  ['--turn', 'much'],
  ['--max-agents', '0'],
])('%s %s is wrong usage', async (option, value) => {
  const found = await command(newProject(FLOW), ['bound', 'flow', option, value]);
  expect(found).toMatchObject({
    code: 64,
    stderr: expect.stringContaining(`${option} is "${value}"`),
  });
});

test('a workflow that does not exist has no bound', async () => {
  const found = await command(newProject(FLOW), ['bound', 'missing']);
  expect(found.code).not.toBe(0);
  expect(found.stderr).toContain('There is no workflow at');
});

test('a costly start is refused where no person can be asked', async () => {
  const project = newProject(FLOW);
  const start = (...more: readonly string[]) => command(project, ['flow', ...more]);
  const refused = await start('--confirm-above', '5');
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain(
    'A run of flow could cost up to $10.00, which is more than $5.00 (confirm_above).',
  );
  expect(refused.stderr).toContain('--budget 5');
  expect(refused.stderr).toContain('--confirm-above 10');
  const detached = await start('--confirm-above', '5', '--detach');
  expect(detached.stderr).toContain('could cost up to $10.00');
  const unlimited = await start('--confirm-above', '5', '--budget', '0');
  expect(unlimited.stderr).toContain('could cost any amount');
  expect((await command(project, ['list', '--json'])).stdout).toBe('');
});

test('a start is not asked about if it cannot cost so much', async () => {
  const project = newProject({
    ...FLOW,
    '.config/raymond/config.toml': '[raymond]\nconfirm_above = 5\n',
  });
  for (const args of [
    ['script', '--confirm-above', '5'],
    ['script', '--confirm-above', '0.01', '--budget', '0'],
    ['flow', '--confirm-above', '5', '--rehearse', '--max-iterations', '2', '--quiet'],
  ])
    expect((await command(project, args)).stderr).not.toContain('could cost');
});

test('a person at a terminal is asked', async () => {
  const project = newProject(FLOW);
  const terminal = atTerminal(project, ['flow', '--confirm-above', '5']);
  await eventually('the question is on the screen', () =>
    terminal.screen().includes('Start it? [yes/no]'),
  );
  terminal.type('no\r');
  expect(await terminal.ended).not.toBe(0);
});

test('the start says the bound', async () => {
  const project = newProject(FLOW);
  project.write('claude', '#!/bin/sh\necho 2.1.0\n');
  chmodSync(project.path('claude'), 0o755);
  const env = { RAYMOND_CLAUDE: project.path('claude') };
  const { stderr } = await command(project, ['maybe'], { env });
  expect(stderr).toMatch(/ starts: .* \(budget \$10\.00, at most 4 prompts\)/);
  const script = await command(project, ['script']);
  expect(script.stderr).toMatch(/ starts: .* \(budget \$10\.00\)/);
});
