import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sandbox } from './sandbox.ts';

const { path, write, read, raymond } = sandbox();

/** Forks, calls, a question, a reminder, a judge, a check, a temporary failure and a permanent one. */
const EVERYTHING = {
  'flow/START.md':
    '---\nallowed_transitions:\n  - { tag: fork, target: WORK, next: WAIT }\n  - { tag: fork, target: BROKEN, next: WAIT }\n---\nFork {{input}} {{color}}.',
  'flow/WORK.sh': 'echo "<call return=\\"AFTER\\">DEEP</call>"',
  'flow/DEEP.md': 'Deep.',
  'flow/AFTER.sh': 'touch executed; echo "<result>$RAYMOND_RESULT</result>"',
  'flow/WAIT.md':
    '---\nevaluators: [{ prompt: JUDGE.md, expect: "YES", then: { tag: goto, target: OTHER } }]\nensures: [{ run: "true", on: [ask] }]\n---\nWait.',
  'flow/JUDGE.md': 'Judge {{transition}}.',
  'flow/OTHER.md': 'Other {{result}}.',
  'flow/BROKEN.sh': 'echo no >&2; exit 3',
  'flow/rehearsal.yaml': `
answers:
  START:
    - no tag at all
    - |
      <fork next="WAIT" n="1">WORK</fork>
      <fork next="WAIT" n="3">BROKEN</fork>
  DEEP:
    - {failure: overloaded, message: busy, cost: 0.25}
    - {text: <result>deep</result>, cost: 0.5, denied: [Bash]}
  WAIT: <ask next="OTHER">Which one?</ask>
  JUDGE: <result>YES</result>
  OTHER: <result>the end</result>
replies: [the first]
`,
};

const rehearsed = (id: string) =>
  raymond('flow', '--rehearse', '--scripts', '--workflow-id', id, '--input', 'x');

test('a run goes the same way on a workflow that has not changed, and nothing is executed', async () => {
  write(EVERYTHING);
  await rehearsed('r');
  rmSync(path('executed'));
  const { code, stdout, stderr } = await raymond('test', 'flow', '--against-runs', 'r');
  expect(stdout + stderr).toBe('1 run played again: 1 would go the same way\n');
  expect(code).toBe(0);
  expect(existsSync(path('executed'))).toBe(false);
});

test('differences are grouped by their cause', async () => {
  write(EVERYTHING);
  await rehearsed('r1');
  await rehearsed('r2');
  write({
    'flow/START.md': `${EVERYTHING['flow/START.md']} Please.`,
    'flow/AFTER.sh': `${EVERYTHING['flow/AFTER.sh']} # as before`,
    'flow/OTHER.md':
      '---\nallowed_transitions: [{ tag: result, payload: X }]\n---\nOther {{result}}.',
  });
  rmSync(path('flow/DEEP.md'));
  const again = await raymond('test', 'flow', '--against-runs', 'r1', 'r2', '--junit', 'again.xml');
  expect(again.code).toBe(1);
  expect(
    again.stdout,
  ).toBe(`policy      OTHER.md: <result>the end</result> is not allowed in this state.
              r2 main:6  was the end: the end, now a reminder
              r1 main:6  was the end: the end, now a reminder
            The agent would be reminded:
              | Your last message did not end this step: <result>the end</result> is not allowed in this state.
              | 
              | End your next message with this tag, outside any code block:
              | 
              |     <result>X</result>
              | 
              | Do not repeat work that is done.
target      WORK.sh: There is no state "DEEP". The workflow has AFTER.sh, BROKEN.sh, JUDGE.md, OTHER.md, START.md, WAIT.md, WORK.sh.
              r2 main_work1:1  was DEEP.md, returning to AFTER.sh, now a failure (missing-state)
              r1 main_work1:1  was DEEP.md, returning to AFTER.sh, now a failure (missing-state)
template    START.md: The prompt has changed. The answer might differ. (2 runs)
2 runs played again: 2 would go elsewhere
`);
  expect(read('again.xml')).toContain('tests="2" failures="2"');
  expect(read('again.xml')).toContain('main:6 OTHER.md (policy)');

  const { stdout } = await raymond('test', 'flow', '--against-runs', 'r1', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    run: 'r1',
    result: 'elsewhere',
    elsewhere: [
      {
        agent: 'main_work1',
        step: 1,
        state: 'WORK.sh',
        cause: 'target',
        was: 'DEEP.md, returning to AFTER.sh',
      },
      {
        agent: 'main',
        step: 6,
        cause: 'policy',
        now: 'a reminder',
        reminder: expect.stringContaining('<result>X'),
      },
    ],
    open: [{ agent: 'main', step: 1, state: 'START.md', cause: 'template' }],
    not_kept: [],
  });
});

test('a changed script is named, and does not fail', async () => {
  write(EVERYTHING);
  await rehearsed('r');
  write({ 'flow/AFTER.sh': '# Other.\n' });
  const { code, stdout } = await raymond('test', 'flow', '--against-runs', 'r');
  expect(stdout).toBe(
    'script      AFTER.sh: The script has changed, so its recorded output may no longer hold. (1 run)\n' +
      '1 run played again: 1 might get other answers\n',
  );
  expect(code).toBe(0);
});

const SCRIPTS = {
  'flow/START.sh': 'echo "<goto>NEXT</goto>"',
  'flow/NEXT.sh': 'echo "<result>done</result>"',
};

test('the runs of the workflow count, and those that are left out are counted', async () => {
  write({ ...SCRIPTS, 'other/START.sh': 'echo "<result>no</result>"' });
  for (const id of ['a', 'b']) await raymond('flow', '--workflow-id', id);
  await raymond('flow/NEXT.sh', '--workflow-id', 'c');
  await raymond('flow', '--workflow-id', 'd', '--max-iterations', '1');
  await raymond('flow', '--rehearse', '--workflow-id', 'e');
  await raymond('other', '--workflow-id', 'f');
  await raymond('flow', '--workflow-id', 'flow-1');
  appendFileSync(path('.raymond/state/flow-1.jsonl'), 'no line\n'.repeat(3));
  const again = async (...args: string[]) => {
    const { stdout, stderr } = await raymond('test', 'flow', '--against-runs', ...args, '--json');
    const runs = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return { runs: runs.map(({ run, result }) => `${run} ${result}`), stderr };
  };
  const all = await again();
  expect(all.runs).toEqual(['d same', 'c same', 'b same', 'a same', 'flow-1 not played']);
  expect(all.stderr).toBe('1 rehearsal is left out. A rehearsal counts if you name it.\n');
  expect((await again('-n', '2')).runs).toEqual(['d same', 'c same']);
  expect((await again('--status', 'stopped')).runs).toEqual(['d same']);
  expect((await again('e', 'f')).runs).toEqual(['f open', 'e same']);
  expect(await raymond('test', 'other', '--against-runs', '--status', 'failed')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('no finished runs of other'),
  });
  expect(await raymond('test', 'flow', '--against-runs', '--watch')).toMatchObject({ code: 64 });
  expect(await raymond('test', 'flow', '-n', '3')).toMatchObject({ code: 64 });
});

test('a run that waits for an answer was played up to its question', async () => {
  write({
    'flow/START.sh': `echo '<ask next="END">Go on?</ask>'`,
    'flow/END.sh': 'echo "<result>$RAYMOND_INPUT</result>"',
  });
  await raymond('flow', '--workflow-id', 'a');
  expect((await raymond('test', 'flow', '--against-runs')).code).toBe(0);
  await raymond('resume', 'a', '--input', 'yes');
  rmSync(path('flow/END.sh'));
  const { code, stdout } = await raymond('test', 'flow', '--against-runs');
  expect(code).toBe(1);
  expect(stdout).toContain('a main:1  was a question, then END.sh, now a failure (missing-state)');
});

test('lint reports the answers that would be refused', async () => {
  write(SCRIPTS);
  await raymond('flow', '--workflow-id', 'a');
  const lint = () => raymond('lint', 'flow', '--against-runs', '--level', 'warning');
  expect(await lint()).toMatchObject({ code: 0, stdout: '' });
  rmSync(path('flow/NEXT.sh'));
  const { stdout } = await lint();
  expect(stdout).toContain(
    'flow/START.sh:1:1: warning: This would refuse 1 recorded answer, such as that of main:1 in a. There is no state "NEXT".',
  );
});

test('outputs that are not kept are not compared, as far as the journal does not have their tags', async () => {
  write({
    ...SCRIPTS,
    'flow/NEXT.sh': 'echo "<fork next=\\"END\\">END</fork>"',
    'flow/END.sh': 'echo "<result>x</result>"',
  });
  await raymond('flow', '--workflow-id', 'a');
  rmSync(path('.raymond/runs/a'), { recursive: true });
  const { code, stdout } = await raymond('test', 'flow', '--against-runs');
  expect(stdout).toBe(
    'not kept    1 answer of 1 run. These steps were not compared.\n1 run played again: 1 would go the same way\n',
  );
  expect(code).toBe(0);
});
