/** Answers that a person types, pastes and edits at a real terminal. */
import { expect, test } from 'vitest';
import { newProject } from '../new-project.ts';
import { TmuxTerminal } from '../view/tmux.ts';

const FLOW = {
  'flow/START.sh': `echo '<ask next="GO">Which colour?</ask>'`,
  'flow/GO.sh': 'printf %s "$RAYMOND_RESULT" >got; echo "<result>fine</result>"',
};

/** Waits until the question is on the screen and Raymond reads keys. */
const asks = (terminal: TmuxTerminal) => terminal.shows('| Which colour?\n>');

test.each([
  ['the live view', 'raymond flow --workflow-id r', 80],
  ['plain lines', 'raymond flow --workflow-id r --plain', 80],
  ['raymond answer', 'raymond answer r; raymond resume r', 80],
  ['a narrow terminal', 'raymond answer r; raymond resume r', 24],
])('a paste into the middle of a line is one answer, in %s', async (where, line, columns) => {
  const project = newProject(FLOW);
  const terminal = new TmuxTerminal(project, { columns, rows: 24 });
  if (line.startsWith('raymond answer')) await project.run(['flow', '--workflow-id', 'r']);
  await terminal.run(line);
  await asks(terminal);
  terminal.type('-l', 'grün 😀');
  terminal.type('Left', 'Left', 'Left');
  terminal.paste('eins\nzwei\n日本\n');
  await terminal.shows('> grüeins\n  zwei\n  日本\n  n 😀');
  // Only the Enter key sends it.
  expect(project.journal('r').some(({ type }) => type === 'agent-answered')).toBe(false);
  terminal.type('Enter');
  await terminal.shows('| fine');
  // The live view replaces it by a line of its report.
  if (where !== 'the live view') expect(terminal.screen()).toContain('> grüeins\n  zwei');
  expect(project.read('got')).toBe('grüeins\nzwei\n日本\nn 😀');
  await terminal.isAsBefore();
});

test.each([['raymond flow --workflow-id r'], ['raymond flow --workflow-id r --plain']])(
  'Ctrl-E opens the editor of the person: %s',
  async (line) => {
    const project = newProject({
      ...FLOW,
      'editor.sh':
        'cat "$2" >seen; echo "EDITING $1 $2"; while [ ! -e go ]; do sleep 0.1; done; printf "# a\\nb\\n" >"$2"',
    });
    const terminal = new TmuxTerminal(
      project,
      { columns: 80, rows: 24 },
      { EDITOR: `sh ${project.path('editor.sh')} -w` },
    );
    await terminal.run(line);
    await asks(terminal);
    terminal.type('-l', 'draft');
    terminal.type('C-e');
    await terminal.shows('EDITING -w');
    expect(project.read('seen')).toBe('draft');
    project.write('go', '');
    await terminal.shows('> # a\n  b');
    terminal.type('Enter');
    await terminal.shows('| fine');
    expect(project.read('got')).toBe('# a\nb');
    await terminal.isAsBefore();
  },
);

test('an editor that fails changes nothing, and is named', async () => {
  const project = newProject(FLOW);
  const terminal = new TmuxTerminal(
    project,
    { columns: 100, rows: 24 },
    { EDITOR: 'no-such-editor' },
  );
  await terminal.run('raymond flow --workflow-id r --plain');
  await asks(terminal);
  terminal.type('-l', 'blue');
  terminal.type('C-e');
  await terminal.shows('Your text is unchanged: the editor (no-such-editor) ended with 127.');
  terminal.type('Enter');
  await terminal.shows('| fine');
  expect(project.read('got')).toBe('blue');
});

test('after Ctrl-Z and fg, the typed text is still there', async () => {
  const project = newProject(FLOW);
  const terminal = new TmuxTerminal(project, { columns: 80, rows: 24 });
  await terminal.run('raymond flow --workflow-id r');
  await asks(terminal);
  terminal.type('-l', 'bl');
  await terminal.shows('> bl');
  terminal.type('C-z');
  await terminal.shows('Stopped');
  terminal.type('-l', 'fg');
  terminal.type('Enter');
  terminal.type('-l', 'ue');
  await terminal.shows('> blue');
  terminal.type('Enter');
  await terminal.shows('| fine');
  expect(project.read('got')).toBe('blue');
});
