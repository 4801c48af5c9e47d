/** Forty mistakes of a newcomer: the command, what Raymond says, and the remedy that it names. */
import { beforeAll, expect, test } from 'vitest';
import { command } from '../command.ts';
import { Project } from '../raymond.ts';

let project: Project;

const DONE = `echo '<result>done</result>'`;

beforeAll(async () => {
  project = new Project({
    'flows/feature/START.sh': DONE,
    'review/START.sh': DONE,
    'review/NEXT.sh': DONE,
    'ask/START.sh': `echo '<ask next="GO">which?</ask>'`,
    'ask/GO.sh': DONE,
    'typo/START.sh': `echo '<goto>BUIDL</goto>'`,
    'typo/BUILD.sh': DONE,
    'misspelt/START.sh': `echo '<gooto>NEXT</gooto>'`,
    'misspelt/NEXT.sh': DONE,
    'crlf/START.sh': `${DONE}\r\n`,
    'front/START.md': '---\nmodle: opus\n---\nWork. Then: <result>done</result>\n',
    'yaml/START.md': '---\nmodel: [opus\n---\nWork. Then: <result>done</result>\n',
    'lower/start.md': 'Work.',
    'py/START.py': '',
    'empty/notes.txt': '',
    'needs/START.sh': DONE,
    'needs/workflow.yaml': 'input:\n  required: true\n  label: the issue\n',
    'windows/START.bat': '',
    'states.yaml': 'states:\n  START: 5\n',
    'src/x.txt': '',
    'notes.txt': '',
  });
  await project.run(['review', '--workflow-id', 'done-1', '--quiet']);
  await project.run(['ask', '--workflow-id', 'ask-1', '--quiet']);
  await project.run(['ask', '--workflow-id', 'ask-2', '--quiet']);
  return () => project.dispose();
});

interface Mistake {
  readonly args: readonly string[];
  readonly says: string;
  readonly remedy: string;
  readonly cwd?: string;
}

const MISTAKES: readonly Mistake[] = [
  // Commands and options.
  { args: [], says: 'Usage: raymond', remedy: '--help' },
  { args: ['lits'], says: 'There is no command lits', remedy: 'raymond list' },
  { args: ['status'], says: 'no command status', remedy: 'raymond list' },
  { args: ['recover'], says: 'no command recover', remedy: 'raymond resume <run>' },
  { args: ['init-config'], says: 'no command init-config', remedy: 'raymond --init-config' },
  { args: ['review', '--bugdet', '5'], says: 'no option --bugdet', remedy: '--budget' },
  { args: ['review', '--budget', '5$'], says: '5$', remedy: 'US dollars' },
  { args: ['review', '--budget', 'five'], says: 'five', remedy: 'US dollars' },
  { args: ['review', '--budget'], says: '--budget', remedy: 'value' },
  { args: ['review', '--input', '--quiet'], says: '--input needs a value', remedy: '--input=' },
  { args: ['review', '--timeout', 'soon'], says: 'soon', remedy: '10m' },
  { args: ['review', '--model', 'opsu'], says: 'opsu', remedy: 'opus' },
  { args: ['review', '--effort', 'hihg'], says: 'hihg', remedy: 'high' },
  { args: ['review', '--permission-mode', 'yolo'], says: 'yolo', remedy: 'acceptEdits' },
  { args: ['review', '--set', 'part'], says: 'part', remedy: 'name=value' },
  { args: ['review', '--max-parallel', '-1'], says: '-1', remedy: 'number' },
  { args: ['review', 'fix', 'the', 'bug'], says: '"fix", "the"', remedy: '--input "fix the bug"' },
  { args: ['review', '--workflow-id', 'a/b'], says: 'a/b', remedy: 'letters' },
  { args: ['review', '--workflow-id', 'done-1'], says: 'done-1', remedy: 'raymond' },
  // Workflows.
  { args: ['revew'], says: 'no workflow at revew', remedy: 'Did you mean review?' },
  { args: ['feature'], cwd: 'src', says: 'no workflow at feature', remedy: '../flows/feature' },
  { args: ['nothing/here'], says: 'no workflow at nothing/here', remedy: 'START.md' },
  { args: ['empty'], says: 'empty', remedy: 'START.md' },
  { args: ['flows'], says: 'flows', remedy: 'flows/feature' },
  { args: ['lower'], says: 'start.md', remedy: 'START' },
  { args: ['py'], says: 'START.py is not a state', remedy: 'START.sh' },
  { args: ['notes.txt'], says: 'notes.txt is not a workflow', remedy: 'Name a folder' },
  { args: ['windows/START.bat'], says: 'cannot run on Unix', remedy: '.sh' },
  { args: ['states.yaml'], says: 'states.yaml:2', remedy: 'lint' },
  { args: ['typo'], says: 'There is no state "BUIDL"', remedy: 'BUILD' },
  { args: ['misspelt'], says: '<gooto>', remedy: '<goto>' },
  { args: ['crlf'], says: 'Windows line endings (CRLF)', remedy: 'lint' },
  { args: ['front'], says: 'modle', remedy: 'model' },
  { args: ['yaml'], says: 'START.md:', remedy: 'Fix' },
  { args: ['needs'], says: 'needs an input', remedy: '--input' },
  // Runs.
  { args: ['show', 'dnoe-1'], says: 'no run dnoe-1', remedy: 'done-1' },
  { args: ['show', 'done-1', 'main:9'], says: 'no step 9', remedy: '--steps' },
  { args: ['resume'], says: 'No run', remedy: 'raymond list' },
  { args: ['answer', 'yes'], says: '2 runs wait for you', remedy: 'raymond answer RUN' },
  { args: ['answer', 'done-1', 'yes'], says: 'No agent of done-1', remedy: 'raymond show done-1' },
  { args: ['answer', 'ask-1', 'go', 'on'], says: 'one text', remedy: 'quotes' },
  { args: ['answer', 'ask'], says: 'ask', remedy: 'ask-1' },
  { args: ['stop', 'done-1'], says: 'done-1', remedy: 'raymond' },
  { args: ['rewind', 'done-1'], says: 'No step is named', remedy: '--to' },
  {
    args: ['list', '--status', 'done'],
    says: 'No run can have the status "done"',
    remedy: 'completed',
  },
  { args: ['prune'], says: 'cannot ask here', remedy: '--yes' },
  { args: ['logs', 'done-1', '--agent', 'mian'], says: 'mian', remedy: 'main' },
];

test('there are at least forty', () => {
  expect(MISTAKES.length).toBeGreaterThanOrEqual(40);
});

test.each(MISTAKES)('raymond $args', async ({ args, says, remedy, cwd = '.' }) => {
  const { code, stderr } = await command(project, args, { cwd: project.path(cwd) });
  expect(code).not.toBe(0);
  expect(stderr).toContain(says);
  expect(stderr).toContain(remedy);
  expect(stderr).not.toMatch(/\n {4}at /);
});
