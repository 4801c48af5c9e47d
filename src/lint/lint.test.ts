import { expect, test } from 'vitest';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { type LintOptions, lint } from './lint.ts';

const END = '<result>done</result>';

function found(files: Readonly<Record<string, string>>, options: LintOptions = {}): string[] {
  return lint(workflowOf(files), options).map(
    ({ code, file, line, column }) => `${code} ${file}:${line}:${column}`,
  );
}

test.each<[string, Record<string, string>, string[]]>([
  ['nothing', { START: END }, []],
  [
    'a missing target, at the tag',
    { START: `One.\n  Two <goto>X</goto>\n${END}` },
    ['missing-state START.md:2:7'],
  ],
  [
    'a missing return and next',
    { START: `<call return="X">A</call>\n<fork next="Y">A</fork>`, A: END },
    ['unreachable-state A.md:1:1', 'missing-state START.md:1:1', 'missing-state START.md:2:1'],
  ],
  [
    'words in place of a target',
    { START: `<goto>the next state</goto> <goto>[one]</goto> ${END}` },
    [],
  ],
  [
    'a state that cannot be read, on the way to another',
    { START: '<goto>A</goto>', A: '---\nmodel: gpt\n---\n<goto>B</goto>', B: END },
    ['unknown-model A.md:2:8'],
  ],
  [
    'a tag that is only talked of',
    { START: `End with <goto></goto>, <fork ...>X</fork> or ${END}` },
    [],
  ],
  ['a tag never closed', { START: `<goto>START\n${END}` }, ['unreadable-example START.md:1:1']],
  [
    'a slip in a tag',
    { START: `<gotto>START</gotto> ${END}` },
    ['unreadable-example START.md:1:1'],
  ],
  ['HTML', { START: `<form>x</form> <b>START</b> ${END}` }, []],
  [
    'an unquoted attribute',
    { START: `<call return=A>A</call> ${END}`, A: END },
    ['unreachable-state A.md:1:1', 'unreadable-example START.md:1:1'],
  ],
  [
    'a call without return',
    { START: `x <call>START</call> ${END}` },
    ['bad-transition START.md:1:3'],
  ],
  [
    'a variable that an agent may not choose',
    { START: `<fork next="START" ITEM="1">A</fork> ${END}`, A: END },
    ['unreachable-state A.md:1:1', 'bad-transition START.md:1:1'],
  ],
  [
    'one that the policy names',
    {
      START: `---\nallowed_transitions: [{tag: fork, target: A, next: A, ITEM: 1}]\n---\n<fork next="A" ITEM="1">A</fork>`,
      A: END,
    },
    [],
  ],
  ['one of a script', { 'START.sh': `echo '<fork next="A" ITEM="1">A</fork>'`, A: END }, []],
  [
    'a tag outside quotes',
    { 'START.sh': `echo <goto>A</goto>`, A: END },
    ['unreadable-tag START.sh:1:6'],
  ],
  [
    'escaped quotes',
    { 'START.sh': `echo "<call return=\\"A\\">A</call>"`, A: `{{result}} ${END}` },
    ['result-ends-run A.md:1:12'],
  ],
  [
    'a tag printed in two parts',
    { 'START.sh': `echo "<goto>"\necho A\necho "</goto>"`, A: END },
    ['perhaps-unreachable A.md:1:1'],
  ],
  ['a tag in a comment', { 'START.sh': `# <goto>X</goto>\necho "${END}"` }, []],
  [
    'forks of two branches',
    {
      'START.sh': `if x; then echo "<fork next='A'>A</fork>"; else echo "<fork next='B'>A</fork>"; fi`,
      A: END,
      B: END,
    },
    [],
  ],
  [
    'an allowed goto beside forks',
    {
      START:
        '---\nallowed_transitions: [{tag: fork, target: A, next: B}]\n---\n<fork>A</fork> <goto>B</goto>',
      A: END,
      B: END,
    },
    [],
  ],
  ["other people's placeholders", { START: `$\{{ input }} {{ other }} ${END}` }, []],
  [
    "a worker's variable",
    { START: `<fork next="N" item="1">W</fork>`, W: `{{item}} ${END}`, N: END },
    [],
  ],
  [
    'an evaluator behind one that always fires',
    {
      START: `---\nevaluators:\n  - {matches: "", then: {tag: result, payload: x}}\n  - {cost: 1, then: {tag: result, payload: y}}\n---\n${END}`,
    },
    ['evaluator-never-fires START.md:4:1'],
  ],
  [
    'an evaluator behind a smaller one',
    {
      START: `---\nevaluators:\n  - {visits: 2, then: {tag: result, payload: x}}\n  - {visits: 3, then: {tag: result, payload: y}}\n---\n${END}`,
    },
    ['evaluator-never-fires START.md:4:1'],
  ],
  [
    'an evaluator target that is missing',
    {
      START: `---\nevaluators:\n  - {visits: 2, then: {tag: goto, target: X}}\n---\n${END}`,
    },
    ['missing-state START.md:3:1'],
  ],
  [
    'a judge that is missing',
    {
      START: `---\nevaluators:\n  - {prompt: X, expect: "Y", then: {tag: result, payload: n}}\n---\n${END}`,
    },
    ['missing-state START.md:3:1'],
  ],
  ['states of the other platform', { START: END, 'BUILD.bat': 'rem', 'BUILD.ps1': '' }, []],
])('%s', (_, files, expected) => {
  expect(found(files)).toEqual(expected);
});

test('a policy may leave the next of a fork to the agent', () => {
  const START = '---\nallowed_transitions: [{tag: fork, target: W}]\n---\nFork.';
  expect(found({ START, W: END })).toEqual([]);
});

test('the other platform is checked from anywhere', () => {
  const files = { 'START.sh': "echo '<goto>BUILD</goto>'", 'BUILD.sh': `echo '${END}'` };
  expect(found(files)).toEqual([]);
  expect(found(files, { platform: 'windows' })).toEqual(['wrong-platform START.sh:1:1']);
  expect(found({ ...files, 'START.ps1': "'<goto>BUILD</goto>'" }, { platform: 'windows' })).toEqual(
    ['wrong-platform START.ps1:1:2'],
  );
});

test('names that the run is given are known', () => {
  const files = { START: `Solve {{issue}}. ${END}` };
  expect(found(files)).toEqual(['unfilled-placeholder START.md:1:7']);
  expect(found(files, { variables: ['issue'] })).toEqual([]);
});

test('a workflow in one file is told by that file', () => {
  expect(found({ START: '<goto>X</goto>' }, { fileOf: () => 'flow.yaml' })).toEqual([
    'missing-state flow.yaml:1:1',
  ]);
});

test('the nearest name is given', () => {
  const [first] = lint(workflowOf({ START: '<goto>REVEIW</goto>', REVIEW: END }));
  expect(first).toMatchObject({ code: 'unreachable-state' });
  expect(lint(workflowOf({ START: '<goto>REVEIW</goto>', REVIEW: END })).at(-1)).toMatchObject({
    nearest: 'REVIEW.md',
    remedy: 'Did you mean REVIEW.md?',
  });
});
