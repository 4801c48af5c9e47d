import { expect, test } from 'vitest';
import { namesIn } from './name-uses.ts';

/** The names with their texts, and `~` before one that cannot be replaced. */
function namesOf(file: string, text: string, isWorkflow = false) {
  return namesIn({ file, text, isWorkflow }).map(
    ({ from, to, written, isExact }) =>
      `${isExact ? '' : '~'}${written}@${isExact ? text.slice(from, to) : ''}`,
  );
}

test.each([
  ['A.md', 'x <goto>B</goto> <call return=" R ">\n S \n</call>', ['B@B', 'R@R', 'S@S']],
  ['A.md', '<ask next="N" timeout="1h" timeout_next="T">B?</ask>', ['N@N', 'T@T']],
  ['A.md', '<fork next="N" item="B">W</fork> <result>R</result>', ['N@N', 'W@W']],
  ['A.md', '<call-workflow return="R">path</call-workflow>', ['R@R']],
  ['A.md', '<call return="a&amp;b">S</call>', ['a&b@a&amp;b', 'S@S']],
  ['A.md', '```\n<goto>B</goto>\n```', ['B@B']],
  ['A.md', 'prose about B and <goto> tags', []],
  ['A.md', '---\nhandover: H\n---\n🙂 <goto>Ä</goto>', ['H@H', 'Ä@Ä']],
  ['A.md', '\uFEFF---\nhandover: "H"\n---\n', ['H@H']],
  [
    'A.md',
    '---\nallowed_transitions: [{tag: join, target: M, failed_next: F, of: any}]\n---',
    ['M@M', 'F@F'],
  ],
  [
    'A.md',
    '---\nallowed_transitions:\n  - {tag: result, payload: P}\n  - tag: ask\n    next: "N"\n---',
    ['N@N'],
  ],
  [
    'A.md',
    '---\nevaluators: [{prompt: J, expect: Y, then: {tag: goto, target: T}}]\n---',
    ['J@J', 'T@T'],
  ],
  [
    'A.md',
    '---\nensures: [{run: x, on: [result, goto D], else: {tag: goto, target: E}}]\n---',
    ['D@D', 'E@E'],
  ],
  ['A.md', '---\nbroken: [\nhandover: H\n---\n<goto>B</goto>', ['H@H', 'B@B']],
  ['A.sh', `echo "<call return=\\"R\\">S</call>"`, ['R@R', 'S@S']],
  ['A.sh', `echo '<goto>S</goto>' # <goto>X</goto>\n`, ['S@S']],
  ['A.sh', `echo '<goto>S</goto>' >&2`, []],
  ['A.sh', `raymond tag call 'S' --attr return=R --attr x=Y`, ['S@S', 'R@R']],
  ['A.sh', `raymond tag goto "S"`, ['S@S']],
  ['A.sh', `echo "<goto>S"T"</goto>"`, ['~ST@']],
  ['A.ps1', 'Write-Output "<goto>S</goto>"', ['S@S']],
  ['A.bat', 'echo ^<goto^>S^</goto^>', ['S@S']],
  [
    'workflow.yaml',
    'handover: H\nstates:\n  A.sh: { timeout: 3 }\n  "B": {}\n',
    ['H@H', 'A.sh@A.sh', 'B@B'],
  ],
])('%s: %s', (file, text, expected) => {
  expect(namesOf(file, text)).toEqual(expected);
});

test.each([
  [
    'a literal block',
    'states:\n  A:\n    prompt: |\n      🙂 x\n\n        <goto>B</goto>\n',
    ['A@A', 'B@B'],
  ],
  [
    'a literal block with its own indentation',
    'states:\n  A:\n    prompt: |2\n        <goto>B</goto>\n',
    ['A@A', 'B@B'],
  ],
  [
    'Windows lines',
    'states:\r\n  A:\r\n    prompt: |\r\n      x\r\n      <goto>B</goto>\r\n',
    ['A@A', 'B@B'],
  ],
  ['a line', 'states:\n  A: { sh: "echo \'<goto>B</goto>\'" }', ['A@A', 'B@B']],
  ['a plain line', 'states:\n  A:\n    prompt: go <goto>B</goto>', ['A@A', 'B@B']],
  [
    'a folded text',
    'states:\n  A:\n    prompt: >\n      x\n      <goto>B</goto>\n',
    ['A@A', '~B@'],
  ],
  ['escapes', 'states:\n  A:\n    prompt: "a\\n<goto>B</goto>"\n', ['A@A', '~B@']],
  [
    'a policy',
    'states:\n  A:\n    prompt: x\n    allowed_transitions: [{tag: goto, target: B}]\n',
    ['A@A', 'B@B'],
  ],
])('in one file: %s', (_, text, expected) => {
  expect(namesOf('flow.yaml', text, true)).toEqual(expected);
});
