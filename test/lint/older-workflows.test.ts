/**
 * Workflows as authors of older versions wrote them. Each fault is found, and only it. Correct ones
 * have neither errors nor warnings.
 */
import { describe, expect, test } from 'vitest';
import { lint, lintFailure } from '../../src/lint/lint.ts';
import { readFiles } from './workflow-of.ts';

type Files = Readonly<Record<string, string>>;

function found(files: Files, platform: 'unix' | 'windows' = 'unix'): readonly string[] {
  const bytes = new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
  const reading = readFiles(bytes, platform);
  const all = reading.ok ? lint(reading.workflow) : lintFailure(reading);
  return all
    .filter(({ severity }) => severity !== 'note')
    .map(({ severity, code, file, line }) => `${severity} ${code} ${file}:${line}`);
}

const END = 'Sum up the work. <result>done</result>\n';

const policy = (...entries: string[]) =>
  `---\nallowed_transitions:\n${entries.map((entry) => `  - { ${entry} }\n`).join('')}---\n`;

const DISPATCH: Files = {
  'START.sh': `#!/bin/bash
# Gives each issue to an agent.
issue=$(next-issue)
if [ -n "$issue" ]; then
    echo "<fork next=\\"START.sh\\" item=\\"$issue\\" cd=\\"/repo/worktree-$issue\\">WORKER.md</fork>"
else
    echo "<result>all issues are dispatched</result>"
fi
`,
  'WORKER.md': `Your item is: {{item}}
Work on it. Then respond with exactly:
<result>fixed</result>
`,
};

describe('a correct workflow has neither errors nor warnings', () => {
  test.each<[string, Files]>([
    [
      'explicit scope',
      {
        'START.md': `Read the requirements from requirements.md.

STOP after reading the file. Do not create any files yet.

After reading the file, respond with exactly:
<goto>GENERATE.md</goto>
`,
        'GENERATE.md': END,
      },
    ],
    [
      'an implicit transition',
      {
        'START.md': `${policy('tag: goto, target: REVIEW.md')}Create a plan in plan.md.\n`,
        'REVIEW.md': `${policy('tag: goto, target: START.md', 'tag: result')}If it is bad, emit <goto>START.md</goto>, otherwise <result>good</result>.\n`,
      },
    ],
    [
      'a cheap evaluator',
      {
        'START.md': '<function return="NEXT.md">EVALUATE.md</function>\n',
        'EVALUATE.md': `---
model: haiku
effort: low
allowed_transitions:
  - { tag: result }
---
Is this task complete? Reply with <result>YES</result> or <result>NO</result>
`,
        'NEXT.md': 'The answer: {{result}}. Now <result>done</result>\n',
      },
    ],
    [
      'a script that polls',
      {
        '1_START.sh': `#!/bin/bash
response=$(curl -s "$GITHUB_API/issues?state=open")
count=$(echo "$response" | jq 'length')

if [ "$count" -gt 0 ]; then
    echo "<goto>PROCESS.md</goto>"
else
    sleep 60
    echo "<reset>1_START.sh</reset>"
fi
`,
        'PROCESS.md': END,
      },
    ],
    [
      'a script that counts in a file',
      {
        'START.sh': `#!/bin/bash
counter_file="/tmp/poll_counter.txt"
count=$(( $(cat "$counter_file" 2>/dev/null || echo 0) + 1 ))
echo $count > "$counter_file"

if [ $count -lt 5 ]; then
    echo "<reset>START.sh</reset>"
else
    rm -f "$counter_file"
    echo "<result>Polling complete after $count iterations</result>"
fi
`,
      },
    ],
    ['a dispatcher', DISPATCH],
    [
      'scripts for two platforms',
      {
        'START.md': 'Then <goto>POLL</goto>.\n',
        'POLL.sh': 'echo "<goto>END</goto>"\n',
        'POLL.bat': '@echo off\r\necho ^<goto^>END^</goto^>\r\n',
        'END.md': END,
      },
    ],
    [
      'names without and with endings',
      {
        'START.md': 'Emit <goto>NEXT</goto>.\n',
        'NEXT.md': 'Emit <goto>LAST.sh</goto>.\n',
        'LAST.sh': `echo '<result>done</result>'\n`,
      },
    ],
    [
      'the combined example',
      {
        'START.md': '<function return="WORK.md">PICK.md</function>\n',
        'PICK.md': 'Which issue? <result>issue 195</result>\n',
        'WORK.md': 'Work on {{result}}. <call return="PLANNED.md">PLAN.md</call>\n',
        'PLAN.md': 'Refine: <goto>PLAN.md</goto>. Ready: <result>plan-195.md</result>\n',
        'PLANNED.md': 'The plan is in {{result}}. <reset>IMPLEMENT.md</reset>\n',
        'IMPLEMENT.md': '<call return="REVIEW.md">FIX.md</call>\n',
        'FIX.md': 'Red: <goto>FIX.md</goto>. Green: <result>the tests pass</result>\n',
        'REVIEW.md': '{{result}} <function return="COMMIT.md">READY.md</function>\n',
        'READY.md': `${policy('tag: result')}Reply <result>YES</result> or <result>NO</result>.\n`,
        'COMMIT.md': 'Ready: {{result}}. <result>closed</result>\n',
      },
    ],
    [
      'a policy with every form',
      {
        'START.md': `---
model: sonnet
effort: medium
allowed_transitions:
  - { tag: goto, target: DONE.md }
  - { tag: reset, target: DONE.md }
  - { tag: call, target: SUB.md, return: BACK.md }
  - { tag: function, target: SUB.md, return: BACK.md }
  - tag: fork
    target: WORKER.md
    next: DONE.md
  - { tag: result }
---
Choose: <goto>DONE.md</goto>, <reset>DONE.md</reset>, <call return="BACK.md">SUB.md</call>,
<function return="BACK.md">SUB.md</function>, <fork next="DONE.md">WORKER.md</fork>
or <result>nothing to do</result>.
`,
        'SUB.md': END,
        'BACK.md': 'Got {{result}}. <result>ok</result>\n',
        'WORKER.md': END,
        'DONE.md': END,
      },
    ],
  ])('%s', (_, files) => {
    expect(found(files)).toEqual([]);
  });

  test('also on Windows', () => {
    const files = { 'START.bat': '@echo off\r\necho ^<result^>done^</result^>\r\n' };
    expect(found(files, 'windows')).toEqual([]);
  });
});

describe('each fault is found', () => {
  test.each<[string, Files, readonly string[]]>([
    ['no entry', { 'REVIEW.md': END }, ['error no-entry :1']],
    ['two entries', { 'START.md': END, '1_START.md': END }, ['error two-entries 1_START.md:1']],
    [
      'a target that does not exist',
      { 'START.md': `Do it.\n<goto>COMIT.md</goto>\n`, 'COMMIT.md': END },
      ['error missing-state START.md:2'],
    ],
    [
      'a target of a script that does not exist',
      {
        'START.sh': `if x; then\n  echo "<goto>NO.md</goto>"\nelse echo '<result>x</result>'; fi\n`,
      },
      ['error missing-state START.sh:2'],
    ],
    [
      'a target in another directory',
      { 'START.md': '<goto>../other/START.md</goto>\n' },
      ['error bad-transition START.md:1'],
    ],
    [
      'a call without return',
      { 'START.md': `<call>SUB.md</call>\n`, 'SUB.md': END },
      ['error bad-transition START.md:1'],
    ],
    [
      'a function that returns to a missing state',
      { 'START.md': '<function return="NEXT.md">SUB.md</function>\n', 'SUB.md': END },
      ['error missing-state START.md:1'],
    ],
    [
      'a fork without next',
      { 'START.md': '<fork item="1">WORKER.md</fork>\n', 'WORKER.md': `{{item}} ${END}` },
      ['error fork-without-next START.md:1'],
    ],
    [
      'cd on a goto',
      { 'START.md': '<goto cd="/repo">NEXT.md</goto>\n', 'NEXT.md': END },
      ['error bad-transition START.md:1'],
    ],
    [
      'cd on a call',
      {
        'START.md': '<call return="NEXT.md" cd="/repo">SUB.md</call>\n',
        'SUB.md': END,
        'NEXT.md': `{{result}} ${END}`,
      },
      ['error bad-transition START.md:1'],
    ],
    [
      'a prompt and a script of one name',
      {
        'START.md': '<goto>POLL</goto>\n',
        'POLL.md': END,
        'POLL.sh': `echo '<result>x</result>'\n`,
      },
      ['warning same-stem POLL.sh:1', 'error ambiguous-state START.md:1'],
    ],
    [
      'a script for Windows only',
      { 'START.md': '<goto>POLL</goto>\n', 'POLL.bat': '@echo ^<result^>x^</result^>\r\n' },
      ['error wrong-platform START.md:1'],
    ],
    [
      'an unknown model, and an unknown effort',
      { 'START.md': `---\nmodel: gpt\neffort: extreme\n---\n${END}` },
      ['error unknown-model START.md:2', 'warning unknown-effort START.md:3'],
    ],
    [
      'a key with a typing error',
      { 'START.md': `---\nallowed_transition:\n  - { tag: result }\n---\n${END}` },
      ['warning unknown-key START.md:2'],
    ],
    [
      'front matter that never ends',
      { 'START.md': `---\nmodel: opus\n\n${END}` },
      ['error unclosed-front-matter START.md:1'],
    ],
    [
      'front matter that is not YAML',
      { 'START.md': `---\nallowed_transitions: [\n---\n${END}` },
      ['error yaml START.md:2'],
    ],
    [
      'an entry with an unknown tag',
      { 'START.md': `${policy('tag: jump, target: NEXT.md')}Go.\n`, 'NEXT.md': END },
      ['error unknown-tag START.md:3'],
    ],
    [
      'an entry with a missing target',
      {
        'START.md': `${policy('tag: goto, target: NO.md', 'tag: result')}Emit NO or <result>x</result>.\n`,
      },
      ['error missing-state START.md:3'],
    ],
    [
      'a tag that the policy forbids',
      {
        'START.md': `${policy('tag: goto, target: NEXT.md')}Emit <reset>NEXT.md</reset>.\n`,
        'NEXT.md': END,
      },
      ['warning forbidden-tag START.md:5'],
    ],
    [
      'an empty policy',
      { 'START.md': `---\nallowed_transitions: []\n---\n${END}` },
      ['warning empty-list START.md:2'],
    ],
    ['a prompt without a tag', { 'START.md': 'Do something.\n' }, ['warning dead-end START.md:1']],
    ['a script without a tag', { 'START.sh': 'echo done\n' }, ['warning dead-end START.sh:1']],
    [
      'a tag in capitals',
      {
        'START.sh': `echo '<GOTO>NEXT.md</GOTO>' || echo '<goto>NEXT.md</goto>'\n`,
        'NEXT.md': END,
      },
      ['error unreadable-tag START.sh:1'],
    ],
    [
      'a tag without its end',
      { 'START.md': '<goto>NEXT.md\n<result>x</result>\n', 'NEXT.md': END },
      ['warning unreadable-example START.md:1'],
    ],
    [
      'a value without quotes',
      { 'START.sh': `echo '<call return=NEXT.md>NEXT.md</call>'\n`, 'NEXT.md': END },
      ['error unreadable-tag START.sh:1'],
    ],
    [
      'quotes that the shell removes',
      {
        'START.sh': `echo "<call return="NEXT.md">NEXT.md</call>"\n`,
        'NEXT.md': `{{result}} ${END}`,
      },
      ['error unreadable-tag START.sh:1'],
    ],
    [
      'a state that nothing names',
      { 'START.md': END, 'OLD.md': END },
      ['warning unreachable-state OLD.md:1'],
    ],
    [
      'a callee that never returns',
      {
        'START.md': '<call return="NEXT.md">SUB.md</call>\n',
        'SUB.md': '<goto>SUB.md</goto>\n',
        'NEXT.md': `{{result}} ${END}`,
      },
      [
        'warning unreachable-state NEXT.md:1',
        'warning never-returns START.md:1',
        'warning endless-loop SUB.md:1',
      ],
    ],
    [
      'a placeholder that nothing fills',
      { ...DISPATCH, 'WORKER.md': `Do {{itme}}. ${END}` },
      ['warning unfilled-placeholder WORKER.md:1'],
    ],
    [
      'a variable that steers programs',
      { 'START.sh': `echo '<fork next="NEXT.md" PATH="/tmp">NEXT.md</fork>'\n`, 'NEXT.md': END },
      ['error bad-transition START.sh:1'],
    ],
    [
      'a file that is not a shell script',
      { 'START.sh': '#!/usr/bin/env python3\nprint("<result>x</result>")\n' },
      ['error other-shebang START.sh:1'],
    ],
    [
      'Windows line endings',
      { 'START.sh': `echo '<result>x</result>'\r\n` },
      ['error crlf-script START.sh:1'],
    ],
  ])('%s', (_, files, expected) => {
    expect(found(files)).toEqual(expected);
  });
});
