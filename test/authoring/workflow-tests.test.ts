import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settingsOf } from '../../src/cli/author/test.ts';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { findTests } from '../../src/workflow-tests/find-tests.ts';
import { reportLines } from '../../src/workflow-tests/report.ts';
import { runTest } from '../../src/workflow-tests/run-test.ts';
import { testPorts } from '../../src/world/wire.ts';
import { patiently } from '../patiently.ts';
import { writeZip } from '../zip-writer.ts';
import { sandbox } from './sandbox.ts';

const { path, write, read, raymond, start } = sandbox();

const FLOW = {
  'flow/START.md': 'Begin with {{input}} for {{who}}.',
  'flow/WORK.md': 'Work on {{item}}.',
  'flow/DEEP.md': 'Deep.',
  'flow/SCRIPT.sh': 'echo "$who" > "$RAYMOND_RESULT"; echo "<result>script</result>"',
};

const ANSWERS = `input: hello
set: {who: Ada}
answers:
  START: {text: '<fork next="DEEP" item="7">WORK</fork>', cost: 0.25}
  WORK: <result>w</result>
  DEEP: [<call return="DEEP">WORK</call>, <goto input="out.txt">SCRIPT</goto>]
`;

const GOOD = [
  'path: [START, DEEP, WORK, DEEP.md, SCRIPT.sh]',
  'paths: {main_work1: [WORK]}',
  'result: script',
  'outcome: completed',
  'variables: {main_work1: {item: 7}}',
  'prompts: {START: [Begin with hello, for Ada], WORK: Work on 7.}',
  'depth: 1',
  'cost: 0.25',
  'files: {out.txt: Ada}',
];

test('a test passes when all expectations are met, and its folder is removed', async () => {
  write({ ...FLOW, 'flow/a.test.yaml': `${ANSWERS}expect:\n  ${GOOD.join('\n  ')}\n` });
  expect(await raymond('test', 'flow')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ok {4}a \(\d+ ms\)\n1 passed\n$/),
    stderr: '',
  });
  expect(leftovers()).toEqual([]);
  expect(existsSync(path('out.txt'))).toBe(false);
});

test.each([
  ['path: [START, WORK]', 'got       START DEEP WORK DEEP SCRIPT'],
  ['paths: {main_work1: [DEEP]}', 'expect.paths.main_work1'],
  ['paths: {main_x1: [DEEP]}', 'expected  DEEP\n        got       -'],
  ['result: else', 'expect.result\n        expected  else\n        got       script'],
  ['outcome: failed', 'expect.outcome\n        expected  failed\n        got       completed'],
  ['variables: {main_work1: {item: 8}}', 'expect.variables.main_work1.item\n        expected  8'],
  ['variables: {main_x1: {item: 8}}', 'no agent main_x1 was forked'],
  ['prompts: {START: Bob}', 'a prompt that contains "Bob"'],
  ['prompts: {SCRIPT: Bob}', 'SCRIPT received no prompt'],
  ['prompts: {STRAT: Bob}', 'did you mean START?'],
  ['depth: 2', 'expect.depth\n        expected  2\n        got       1'],
  ['cost: 1', 'expect.cost\n        expected  1\n        got       0.25'],
  ['files: {out.txt: Bob}', 'expect.files.out.txt'],
  ['files: {no.txt: Bob}', 'no such file'],
])('expect %s fails, and reports why', async (expectation, message) => {
  write({ ...FLOW, 'flow/a.test.yaml': `${ANSWERS}expect:\n  ${expectation}\n` });
  expect(await report()).toContain(message);
});

/** The report of the test, without a separate process, because this table is long. */
async function report(): Promise<string> {
  const [named] = await findTests([path('flow/a.test.yaml')], [], AGENTS);
  if (!named) throw new Error('there is no test');
  const played = await runTest(path('flow'), named, settingsOf(named.test), testPorts({}));
  expect(played.problems).not.toEqual([]);
  return reportLines(played).join('\n');
}

test.each([
  ['answers: {}', 'The test has no answer for START.md. Add one under answers:'],
  ['answers: {START: {failure: no-credit, message: empty}}', 'main: empty'],
  ['answers: {START: <goto>START</goto>}\nmax_iterations: 5', 'stopped: iterations'],
  ['answers: {START: <goto>START</goto>}', 'stopped: iterations'],
  ['answers: {START: {text: <goto>START</goto>, cost: 1}}\nbudget: 2', 'stopped: budget'],
  ['answers: {START: <ask next="START">why?</ask>}', 'waiting'],
  ['answers: {START: <result>x</result>, STRAT: a}', 'answers.STRAT'],
])('a run that does not complete is not a success: %s', async (text, message) => {
  write({ 'flow/START.md': 'x', 'flow/a.test.yaml': text });
  expect(await report()).toContain(message);
});

test('names select tests, reports are for programs, and states that were never executed are listed', async () => {
  write({
    ...FLOW,
    'flow/a.test.yaml': `tests:
  - {name: short & <sweet>, answers: {START: <result>x</result>}, expect: {result: y}}
  - {name: other, answers: {START: <result>x</result>}}
`,
  });
  const { code, stdout } = await raymond('test', 'flow', 'short', '--json', '--junit', 'j.xml');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'short & <sweet>',
    file: path('flow/a.test.yaml'),
    passed: false,
    problems: [{ what: 'expect.result', expected: 'y', got: 'x' }],
  });
  expect(read('j.xml')).toContain('<testsuite name="flow" tests="1" failures="1"');
  expect(read('j.xml')).toContain('name="short &amp; &lt;sweet&gt;"');
  expect(statSync(path('j.xml')).mode & 0o777).toBe(0o600);

  const covered = await raymond('test', 'flow', 'other', '--coverage');
  expect(covered.stdout).toMatch(/^Coverage: 1 of 4 states, \d of \d+ transitions?$/m);
  expect(covered.stdout).toMatch(/never taken: \w+ -> \w+ \w+/);
  for (const state of ['DEEP.md', 'SCRIPT.sh', 'WORK.md'])
    expect(covered.stdout).toContain(`never executed: ${state}\n`);
});

test('coverage reaches every transition of a fork with a goto', async () => {
  write({
    'flow/START.sh': `echo '<fork n="1">WORK</fork>'; echo '<goto>END</goto>'`,
    'flow/WORK.sh': `echo '<result>w</result>'`,
    'flow/END.sh': `echo '<result>e</result>'`,
    'flow/a.test.yaml': 'expect: { outcome: completed }',
  });
  const { stdout } = await raymond('test', 'flow', '--coverage');
  expect(stdout).toContain('Coverage: 3 of 3 states, 4 of 4 transitions\n');
  expect(stdout).not.toContain('never taken');
});

test.each([
  ['an infinite loop', { 'START.md': '{ tag: goto, target: START }' }, 'endless-loop'],
  [
    'a call that never returns',
    {
      'START.md': '{ tag: call, target: SUB, return: END }',
      'SUB.md': '{ tag: goto, target: SUB }',
      'END.md': '{ tag: result }',
    },
    'never-returns',
  ],
])('--explore finds %s, without a test', async (_, policies, code) => {
  for (const [name, entry] of Object.entries(policies))
    write({ [`flow/${name}`]: `---\nallowed_transitions: [${entry}]\n---\nGo on. {{result}}` });
  const explored = await raymond('test', 'flow', '--explore');
  expect(explored.code).toBe(1);
  expect(explored.stdout).toContain('FAIL  every path');
  expect(explored.stdout).toContain(code);
});

test('--explore runs no test, so it executes nothing', async () => {
  write({
    'flow/START.sh': `touch ${path('ran')}; echo '<result>x</result>'`,
    'flow/a.test.yaml': '{}',
  });
  expect(await raymond('test', 'flow', '--explore')).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(path('ran'))).toBe(false);
  const both = await raymond('test', 'flow', 'a', '--explore');
  expect(both.code).toBe(64);
  expect(both.stderr).toContain('--explore plays no tests.');
});

test('the tests of a zip archive are inside or beside it, those of a YAML file beside it', async () => {
  const text = 'answers: {START: <result>x</result>}';
  writeFileSync(
    path('flow.zip'),
    writeZip([
      { name: 'START.md', content: 'x' },
      { name: 'inside.test.yaml', content: text },
    ]),
  );
  write({
    'flow.beside.test.yaml': text,
    'one.yaml': 'states: {START: {prompt: x}}',
    'one.test.yaml': text,
  });
  expect((await raymond('test', 'flow.zip')).stdout).toMatch(/ok .*inside[\s\S]*ok .*flow\.beside/);
  expect((await raymond('test', 'one.yaml')).stdout).toMatch(/^ok {4}one /);
});

test.each([
  [[], 'No workflow is named.', 'Name the workflow', 64],
  [['nowhere'], 'There is no workflow at nowhere.', 'Name a folder', 64],
  [['flow'], 'The workflow flow has no tests.', 'raymond test --record <run>', 64],
  [['bad'], 'bad/a.test.yaml:1:10: expect has no key "pat".', 'Did you mean path?', 64],
  [['good', 'nix'], 'The test "nix" does not exist.', 'Name one of these tests: "a".', 64],
  [
    ['good', '--junit', 'no/such/j.xml'],
    'cannot be written',
    'Create its folder first, or name another file.',
    64,
  ],
  [['twice'], 'both a recording and its own answers', 'Keep one', 64],
  [['outside'], 'is outside its project folder', 'relative to that folder', 64],
  [['expected'], 'is outside its project folder', 'relative to that folder', 64],
  [['nul'], 'is outside its project folder', 'relative to that folder', 64],
] as const)('test %j reports the fact and the remedy', async (args, fact, remedy, exit) => {
  const START = { text: 'x', good: 'answers: {START: <result>x</result>}' };
  write({
    'flow/START.md': START.text,
    'bad/START.md': START.text,
    'bad/a.test.yaml': 'expect: {pat: [A]}',
    'good/START.md': START.text,
    'good/a.test.yaml': START.good,
    'twice/START.md': START.text,
    'twice/a.test.yaml': `recorded: []\n${START.good}`,
    'outside/START.md': START.text,
    'outside/a.test.yaml': `files: {../x: y}\n${START.good}`,
    'expected/START.sh': `touch ${path('ran')}`,
    'expected/a.test.yaml': 'expect: {files: {../../../../../../etc/hostname: x}}',
    'nul/START.md': START.text,
    'nul/a.test.yaml': 'files: {"a\\0b": x}',
  });
  const { code, stderr } = await raymond('test', ...args);
  expect(stderr).toContain(fact);
  expect(stderr).toContain(remedy);
  expect(code).toBe(exit);
  expect(existsSync(path('ran'))).toBe(false);
});

test('a file that a script replaced with a link to another folder is not read', async () => {
  write({
    secret: 'top secret',
    'flow/START.sh': `ln -s ${JSON.stringify(path('secret'))} report; mkfifo pipe; ln -s / root; echo '<result>x</result>'`,
    'flow/a.test.yaml': `expect: {files: {report: top, pipe: x, root${path('secret')}: top}}`,
  });
  const { code, stdout } = await raymond('test', 'flow');
  expect(code).toBe(1);
  expect(stdout).not.toContain('top secret');
  expect(stdout.match(/it is a link that leaves its folder/g)).toHaveLength(2);
  expect(stdout).toContain('it is not a regular file');
});

test('a signal also ends the script of a test, and nothing is left behind', async () => {
  write({
    'flow/START.sh': 'echo $$ > "$where"; sleep 1000',
    'flow/a.test.yaml': `set: {where: ${JSON.stringify(path('pid'))}}`,
  });
  const child = start('test', 'flow');
  const closed = once(child, 'close');
  await patiently(() => expect(Number(read('pid'))).toBeGreaterThan(0));
  const pid = Number(read('pid'));
  child.kill('SIGINT');
  expect(await closed).toEqual([130, null]);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(leftovers()).toEqual([]);
});

test('--watch tests again when a file changes, continues after a mistake, and ends with Ctrl-C', async () => {
  write({ 'flow/START.md': 'x', 'flow/a.test.yaml': 'answers: {START: <result>x</result>}' });
  const child = start('test', 'flow', '--watch');
  let output = '';
  const says = async (pattern: RegExp) => {
    while (!pattern.test(output)) await once(child.stdout, 'data');
    output = '';
  };
  let told = '';
  child.stderr.on('data', (chunk) => {
    told += chunk;
  });
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const waits = async () => {
    while (!told.includes('Waiting for a change')) await once(child.stderr, 'data');
    told = '';
  };
  await says(/1 passed/);
  await waits();
  write({ 'flow/a.test.yaml': 'answers: {START: <result>x</result>}\nexpect: {result: y}' });
  await says(/1 of 1 failed/);
  await waits();
  write({ 'flow/a.test.yaml': 'anwers: {}' });
  while (!told.includes('no key "anwers"')) await once(child.stderr, 'data');
  write({ 'flow/a.test.yaml': 'answers: {START: <result>x</result>}' });
  await says(/1 passed/);
  const closed = once(child, 'close');
  child.kill('SIGINT');
  expect(await closed).toEqual([0, null]);
});

function leftovers(): readonly string[] {
  return readdirSync(path('.tmp'));
}

const TIMED = {
  'timed/workflow.yaml': `triggers:
  - { schedule: 30 2 * * *, timezone: Europe/Berlin }
  - { webhook: issues, secret: HOOK, match: { action: opened } }
  - { files: inbox/*.md }
`,
  'timed/START.sh': 'echo "<result>$RAYMOND_TRIGGER ($RAYMOND_RESULT)</result>"',
};

test('a test starts its run with a trigger, at a time of its own', async () => {
  write({
    ...TIMED,
    'timed/a.test.yaml': `tests:
  - name: the night in which clocks go back
    trigger: schedule
    at: 2026-10-25T02:30:00+02:00
    expect: { result: "schedule 30 2 * * * Europe/Berlin, due at 2026-10-25T00:30:00.000Z ()" }
  - name: an issue
    trigger: issues
    payload: { action: opened, issue: 7 }
    expect: { result: 'webhook issues, delivery test ({"action":"opened","issue":7})' }
  - name: a file
    trigger: files
    file: inbox/a.md
    files: { inbox/a.md: a note }
    expect: { result: "files inbox/*.md, file inbox/a.md (inbox/a.md)" }
`,
  });
  expect(await raymond('test', 'timed')).toMatchObject({ stderr: '', code: 0 });
});

test.each([
  [
    'trigger: schedule\nat: 2026-10-25T04:30:00+01:00',
    /is not due at 2026-10-25T04:30.*next time/s,
  ],
  ['trigger: issues\npayload: { action: closed }', /does not match/],
  ['trigger: files\nfile: a.md\nfiles: { a.md: a note }', /does not match/],
  ['trigger: mail', /mail/],
])('%j would start no run, so it is refused', async (text, why) => {
  write({ ...TIMED, 'timed/a.test.yaml': `${text}\n` });
  const { code, stderr } = await raymond('test', 'timed');
  expect(code).toBe(64);
  expect(stderr).toMatch(why);
});
