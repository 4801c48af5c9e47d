import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sandbox } from './sandbox.ts';

const { path, write, read, raymond } = sandbox();

const FLOW = {
  'flow/START.sh': `for n in 1 2; do echo "<fork n=\\"$n\\">WORK</fork>"; done
echo '<join failed_next="REPAIR" timeout="1h" timeout_next="LATE">MERGE</join>'`,
  'flow/WORK.md': 'Work on {{n}}.',
  'flow/MERGE.sh': `cat "$RAYMOND_TASK_FOLDER"/joined/* >all.txt
echo "<result>merged</result>"`,
  'flow/REPAIR.md': 'Repair {{result}}.',
  'flow/LATE.md': 'Late.',
};

test('a test states the joins and the results of children', async () => {
  write({
    ...FLOW,
    'flow/a.test.yaml': `answers:
  WORK: [<result>one</result>, <result>two</result>]
expect:
  path: [START, MERGE]
  joins: [{state: MERGE, workers: {main_work1: ended, main_work2: ended}}]
  results: {main_work1: one, main_work2: two}
  files: {all.txt: onetwo}
`,
  });
  expect(await raymond('test', 'flow')).toMatchObject({ code: 0, stderr: '' });
});

test('a test replaces the end of a child, and its prompt receives the array', async () => {
  write({
    ...FLOW,
    'flow/a.test.yaml': `answers:
  WORK: [<result>one</result>, {failure: refused, message: no}]
  REPAIR: <result>repaired</result>
expect:
  result: repaired
  joins: [{agent: main, state: REPAIR.md, workers: {main_work1: ended, main_work2: failed}}]
  prompts: {REPAIR: ['"failure":{"kind":"refused","message":"no"}', '"variables":{"n":"2"}']}
`,
  });
  expect(await raymond('test', 'flow')).toMatchObject({ code: 0, stderr: '' });
});

test('a step of a test can take time, so that the deadline of a join passes', async () => {
  write({
    ...FLOW,
    'flow/a.test.yaml': `answers:
  WORK: [{text: <result>soon</result>, takes: 30m}, {text: <result>late</result>, takes: 2h}]
  LATE: [<join>MERGE</join>]
expect:
  path: [START, LATE, MERGE]
  joins:
    - {state: LATE, workers: {main_work1: ended, main_work2: running}}
    - {state: MERGE, workers: {main_work2: ended}}
  files: {all.txt: late}
`,
  });
  expect(await raymond('test', 'flow')).toMatchObject({ code: 0, stderr: '' });
});

test.each([
  ['joins: []', 'got       {"agent":"main","state":"MERGE"'],
  ['joins: [{workers: {main_work1: failed}}]', 'expect.joins'],
  ['joins: [{state: MERGE}, {state: MERGE}]', 'expect.joins'],
  ['results: {main_work1: two}', 'expect.results.main_work1'],
  ['results: {main_work3: two}', 'no result'],
])('expect %s fails, and reports why', async (expectation, message) => {
  write({
    ...FLOW,
    'flow/a.test.yaml': `answers: {WORK: <result>one</result>}\nexpect:\n  ${expectation}\n`,
  });
  const { code, stdout } = await raymond('test', 'flow');
  expect(code).toBe(1);
  expect(stdout).toContain(message);
});

test('a run with a stopped child and a deadline can be recorded and replayed', async () => {
  write({
    'flow/START.sh': `echo '<fork n="1">WORK</fork><fork n="9">WORK</fork><join of="any">RACE</join>'`,
    'flow/RACE.sh': `echo '<fork n="9">WORK</fork><join timeout="0.2s" timeout_next="END" rest="stop">END</join>'`,
    'flow/WORK.sh': `[ "$n" = 1 ] || sleep 1000
echo "<result>$n</result>"`,
    'flow/END.sh': `echo "<result>$RAYMOND_RESULT</result>"`,
  });
  const ended = await raymond('flow', '--workflow-id', 'recorded');
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('"agent":"main_work3","state":"WORK.sh","status":"stopped"');
  expect(await raymond('test', '--record', 'recorded')).toMatchObject({ code: 0 });
  expect(read('flow/recorded.test.yaml')).toContain('stopped: true');
  expect(await raymond('test', 'flow')).toMatchObject({ code: 0, stderr: '' });
});

test('a rehearsal forks and joins without executing anything', async () => {
  write({
    'flow/START.md': `---
allowed_transitions: [{tag: fork, target: WORK}, {tag: join, target: MERGE}]
---
Fork.`,
    'flow/WORK.sh': 'touch ran; echo "<result>$n</result>"',
    'flow/MERGE.md': '---\nallowed_transitions: [{tag: result}]\n---\nMerge {{result}}.',
  });
  const { code, stderr } = await raymond('flow', '--rehearse');
  expect(code).toBe(0);
  expect(stderr).toMatch(/START.md -> join main_work1[\s\S]*joined main_work1, goes to MERGE.md/);
  expect(existsSync(path('ran'))).toBe(false);
});
