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
  await terminal.shows('main asks permission (allow, or deny "why"), and 1 more:');
  await terminal.shows('| command: echo x >>made #\\x1b[2J\\x1b]0;evil\\x07');
  // Another text decides nothing.
  terminal.type('-l', 'yes');
  terminal.type('Enter');
  terminal.type('-l', 'allow');
  terminal.type('Enter');
  await terminal.shows('was allowed');
  await terminal.shows('| command: echo y >>made');
  terminal.type('-l', 'deny not twice');
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
