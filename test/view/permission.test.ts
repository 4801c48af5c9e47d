/** Permission requests in a real terminal. The agent is not real. */
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { fakeClaude } from '../real-agent/fake-claude.ts';
import { TmuxTerminal } from './tmux.ts';

const SIZE = { columns: 100, rows: 24 };
const HOSTILE = 'echo x >>made #\x1b[2J\x1b]0;evil\x07\u202e';

test('a tool call is shown with its arguments, and decided in the live view', async () => {
  const claude = await fakeClaude('asks permission', {
    requests: [
      { tool_name: 'Bash', input: { command: HOSTILE } },
      { tool_name: 'Bash', input: { command: 'echo y >>made' } },
    ],
  });
  const project = newProject({ 'flow/START.md': 'Work.' });
  const terminal = new TmuxTerminal(project, SIZE, claude.environment);
  await terminal.run('raymond flow --workflow-id r --ask-permissions');
  await terminal.shows('main asks permission, and 1 more:');
  await terminal.shows(
    '  1  allow      only this call\n  3  deny       not this call; you may add why',
  );
  await terminal.shows('| command: echo x >>made #\\x1b[2J\\x1b]0;evil\\x07');
  terminal.type('-l', 'yes');
  terminal.type('Enter');
  await terminal.shows('"yes" decides nothing here. Type 1 (allow) or 3 (deny).');
  terminal.paste('allow\nrm -rf x\n');
  await terminal.shows('> allow\n  rm -rf x');
  terminal.type('Enter');
  await terminal.shows('"allow rm -rf x" decides nothing here.');
  terminal.type('C-u', 'BSpace', 'C-u', 'BSpace', 'C-u');
  terminal.type('-l', '1');
  terminal.type('Enter');
  await terminal.shows('was allowed');
  await terminal.shows('| command: echo y >>made');
  terminal.type('-l', '3 not twice');
  terminal.type('Enter');
  await terminal.shows('(not twice)');
  await terminal.shows('r completed');
  await eventually('the shell continues', () => terminal.screen().endsWith('$'));
  expect(project.lines('made')).toEqual(['x']);
  expect(claude.entries('reply').map(({ response }) => response?.behavior)).toEqual([
    'allow',
    'deny',
  ]);
});

test('everything that a decision allows is shown on a narrow terminal', async () => {
  const rules = ['Bash(git push --force-with-lease origin main:*)', 'Bash(npm publish:*)'];
  const claude = await fakeClaude('asks permission', {
    requests: [
      {
        tool_name: 'Bash',
        input: { command: 'echo x >>made' },
        permission_suggestions: rules.map((rule) => ({
          type: 'addRules',
          behavior: 'allow',
          destination: 'localSettings',
          rules: [{ toolName: 'Bash', ruleContent: rule.slice(5, -1) }],
        })),
      },
    ],
  });
  const project = newProject({ 'flow/START.md': 'Work.' });
  const terminal = new TmuxTerminal(project, { columns: 50, rows: 30 }, claude.environment);
  await terminal.run('raymond flow --workflow-id r --ask-permissions');
  await terminal.shows('\n  2  allow-run  also, until the run ends:');
  const packed = (text: string) => text.replace(/\s+/g, '');
  for (const rule of rules) expect(packed(terminal.screen())).toContain(packed(rule));
  terminal.type('2', 'Enter');
  await terminal.shows('r completed');
  expect(project.lines('made')).toEqual(['x']);
});

test('Ctrl-D leaves the decision to others, and the agent waits', async () => {
  const claude = await fakeClaude('asks permission', {
    requests: [{ tool_name: 'Bash', input: { command: 'echo x >>made' } }],
  });
  const project = newProject({ 'flow/START.md': 'Work.' });
  const terminal = new TmuxTerminal(project, SIZE, claude.environment);
  await terminal.run('raymond flow --workflow-id r --ask-permissions');
  await terminal.shows('main asks permission');
  await terminal.shows('\n>');
  terminal.type('C-d');
  await terminal.shows('r waits for a person');
  expect(await project.run(['answer', 'allow'])).toMatchObject({ code: 0 });
  expect(await project.run(['resume', 'r'], { env: { ...claude.environment } })).toMatchObject({
    code: 0,
    stdout: 'done\n',
  });
  expect(project.lines('made')).toEqual(['x']);
});
