import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { writeZip } from '../zip-writer.ts';
import { sandbox } from './sandbox.ts';

const { path, write, read, raymond } = sandbox();

const policy = (...entries: string[]) =>
  `---\nallowed_transitions:\n${entries.map((entry) => `  - ${entry}\n`).join('')}---\n`;

test('needs no agent, says that it is a rehearsal, and is marked in list and show', async () => {
  write({ 'flow/START.md': 'Say <result>hello</result>.' });
  const { code, stdout, stderr } = await raymond('flow', '--rehearse', '--workflow-id', 'one');
  expect(stderr.split('\n')[0]).toBe(
    'Rehearsal: Raymond calls no model, executes no script and spends nothing.',
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'hello\n' });
  expect((await raymond('list')).stdout).toMatch(/one +completed .* rehearsal, hello/);
  expect(JSON.parse((await raymond('list', '--json')).stdout)).toMatchObject({ rehearsal: true });
  expect((await raymond('show', 'one')).stdout).toContain('REHEARSAL');
});

test('without answers, each allowed transition is taken in turn', async () => {
  write({
    'flow/START.md': `${policy('{tag: goto, target: AGAIN}', '{tag: call, target: WORK, return: START}', '{tag: ask, next: BYE}')}Go on.`,
    'flow/AGAIN.md': `${policy('{tag: goto, target: START}')}Back.`,
    'flow/WORK.md': `${policy('{tag: result}')}Work.`,
    'flow/BYE.sh': 'echo "<result>$RAYMOND_RESULT, really</result>"',
  });
  const { code, stdout, stderr } = await raymond('flow', '--rehearse', '--scripts');
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'rehearsed, really\n' });
  expect(stderr).toMatch(/goto AGAIN[\s\S]*call WORK[\s\S]*ask/);
});

test('no script is executed: its tags are used in turn, so that loops end', async () => {
  write({
    'flow/START.sh': `touch ran
case $(deploy) in
  later) echo "<goto>WAIT</goto>" ;;
  *) echo "<call return=\\"DONE\\" input=\\"$x\\">WORK</call>" ;;
esac`,
    'flow/WAIT.sh': 'touch ran; sleep 1000; echo "<goto>START</goto>"',
    'flow/WORK.sh':
      'touch ran; echo "<reset cd=\\"$(make-a-folder)\\">WORK</reset>" || echo "<result>worked</result>"',
    'flow/DONE.sh':
      'touch ran; for n in 1 2; do echo "<fork n=\\"$n\\">EACH</fork>"; done; echo "<goto>END</goto>"',
    'flow/EACH.sh': 'touch ran; echo "<result>$n</result>"',
    'flow/END.sh': 'touch ran; echo "<result>all done</result>"',
  });
  const { code, stdout, stderr } = await raymond('flow', '--rehearse', '--workflow-id', 'r');
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'all done\n' });
  expect(stderr).toMatch(/WAIT\.sh -> goto START\.sh[\s\S]*reset WORK\.sh[\s\S]*EACH/);
  expect(existsSync(path('ran'))).toBe(false);
  expect(read('.raymond/runs/r/steps/main/1/stdout')).toBe('<goto>WAIT</goto>');
});

test('--scripts executes the scripts without an answer, says so, and needs --rehearse', async () => {
  write({
    'flow/START.sh': 'touch first; echo "<goto>NEXT</goto>"',
    'flow/NEXT.sh': 'touch second; echo "<result>real</result>"',
    'flow/rehearsal.yaml': 'answers: {NEXT: <result>written</result>}',
  });
  const rehearsed = await raymond('flow', '--rehearse', '--scripts', '--workflow-id', 'r');
  expect(rehearsed).toMatchObject({ code: 0, stdout: 'written\n' });
  expect(rehearsed.stderr.split('\n')[0]).toContain('It executes scripts (--scripts).');
  expect((await raymond('show', 'r')).stdout).toContain('It executed scripts.');
  expect(['first', 'second'].map((file) => existsSync(path(file)))).toEqual([true, false]);
  const alone = await raymond('flow', '--scripts');
  expect(alone.code).toBe(64);
  expect(alone.stderr).toContain('--scripts works only in a rehearsal.');
});

test('a script without a visible tag fails, and the message says what to do', async () => {
  write({ 'flow/START.sh': 'touch ran; echo "<goto>$NEXT</goto>"' });
  const { code, stderr } = await raymond('flow', '--rehearse');
  expect(code).toBe(1);
  expect(stderr).toContain(
    'START.sh was not executed, and its text shows no tag that can be followed.',
  );
  expect(stderr).toContain('Write its answer into rehearsal.yaml, or rehearse with --scripts.');
  expect(existsSync(path('ran'))).toBe(false);
});

test('a prompt without a tag fails, and the message says what to do', async () => {
  write({ 'flow/START.md': 'Do something.' });
  const { code, stdout, stderr } = await raymond('flow', '--rehearse');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('START.md names no transition that can be followed');
  expect(stderr).toContain('write an answer into rehearsal.yaml');
});

test('an answer in the rehearsal file is a way on', async () => {
  write({
    'flow/START.md': 'Do something.',
    'flow/rehearsal.yaml': 'answers: {START: <result>written</result>}',
  });
  expect(await raymond('flow', '--rehearse')).toMatchObject({ code: 0, stdout: 'written\n' });
});

test('answers vary, so that a script that waits for one of them ends', async () => {
  write({
    'flow/START.sh': `echo '<ask next="CHECK">Is it right?</ask>'`,
    'flow/CHECK.sh': `echo "$RAYMOND_RESULT" >>replies
case $RAYMOND_RESULT in no) echo '<result>refused</result>' ;; *) echo '<goto>START</goto>' ;; esac`,
  });
  const { code, stdout } = await raymond('flow', '--rehearse', '--scripts');
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'refused\n' });
  expect(read('replies')).toBe('rehearsed\nyes\nno\n');
});

test('deadlines also pass, without waiting for them', async () => {
  write({
    'flow/START.md': '<ask next="START" timeout="7d" timeout_next="LATE">Is it right?</ask>',
    'flow/LATE.md': 'Say <result>too late</result>.',
  });
  const { code, stdout, stderr } = await raymond('flow', '--rehearse', '--workflow-id', 'r');
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'too late\n' });
  const times = read('.raymond/state/r.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).at);
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

test('written replies come first, and each is given', async () => {
  write({
    'flow/START.md': '<ask next="END" timeout="1h" timeout_next="LATE">Name?</ask>',
    'flow/LATE.md': '<result>late</result>',
    'flow/END.sh': 'echo "<result>$RAYMOND_RESULT</result>"',
    'flow/rehearsal.yaml': 'replies: [Ada]',
  });
  expect(await raymond('flow', '--rehearse', '--scripts')).toMatchObject({ stdout: 'Ada\n' });
});

test('--verbose shows each prompt as the agent would receive it', async () => {
  write({
    'flow/START.md': `${policy('{tag: goto, target: NEXT, input: "<b>"}')}Read {{input}}\nin {{state}}.`,
    'flow/NEXT.md': 'Then {{input}}: <result>ok</result>',
  });
  const given = ['flow', '--rehearse', '--input', 'Größe'];
  const { stderr } = await raymond(...given, '--verbose');
  expect(stderr).toContain('Read Größe\n');
  expect(stderr).toContain('in START.md.\n');
  expect(stderr).toContain('Then <b>: ');
  expect(stderr).not.toContain('allowed_transitions');
  expect((await raymond(...given)).stderr).not.toContain('Größe');
});

test('a resumed rehearsal continues with the next tag of a script, and still executes no script', async () => {
  write({
    'flow/START.sh': 'touch ran; echo "<goto>START</goto>"; echo "<goto>ON</goto>"',
    'flow/ON.sh': 'touch ran; echo "<result>on</result>"',
  });
  const stopped = await raymond(
    'flow',
    '--rehearse',
    '--max-iterations',
    '1',
    '--workflow-id',
    'r',
  );
  expect(stopped.code).toBe(3);
  expect(await raymond('resume', 'r', '--max-iterations', '9')).toMatchObject({
    code: 0,
    stdout: 'on\n',
  });
  expect(read('.raymond/state/r.jsonl').match(/"step-started"/g)).toHaveLength(3);
  expect(existsSync(path('ran'))).toBe(false);
});

test('a loop without an exit stops after the given number of steps, or after 1000', async () => {
  write({
    'flow/START.md': `${policy('{tag: reset, target: START}')}Again.`,
    'once/START.md': `${policy('{tag: result}')}Once.`,
  });
  const limited = await raymond('flow', '--rehearse', '--max-iterations', '3');
  expect(limited).toMatchObject({ code: 3, stderr: expect.stringContaining('(3 steps') });
  expect((await raymond('list')).stdout).toMatch(/stopped +\d+ s +3 .* rehearsal, by its limit/);
  // To take them all would take long.
  await raymond('once', '--rehearse', '--workflow-id', 'once');
  const [started = ''] = read('.raymond/state/once.jsonl').split('\n');
  expect(JSON.parse(started).settings).toMatchObject({ maxIterations: 1000 });
});

const ANSWERS = 'answers: {START: [<goto>START</goto>, <result>from the file</result>]}\n';

test.each([
  ['a folder', { 'flow/START.md': 'x', 'flow/rehearsal.yaml': ANSWERS }, 'flow'],
  [
    'a YAML file',
    { 'flow.yaml': 'states: {START: {prompt: x}}', 'flow.rehearsal.yaml': ANSWERS },
    'flow.yaml',
  ],
] as const)('finds the answers of %s', async (_, files, workflow) => {
  write(files);
  expect(await raymond(workflow, '--rehearse')).toMatchObject({
    code: 0,
    stdout: 'from the file\n',
  });
});

test('finds the answers inside a zip archive', async () => {
  writeFileSync(
    path('flow.zip'),
    writeZip([
      { name: 'START.md', content: 'x' },
      { name: 'rehearsal.yaml', content: ANSWERS },
    ]),
  );
  expect(await raymond('flow.zip', '--rehearse')).toMatchObject({ stdout: 'from the file\n' });
});

test('the named file takes precedence, and also answers for scripts', async () => {
  write({
    'flow/START.sh': 'touch ran; echo "<result>real</result>"',
    'flow/rehearsal.yaml': ANSWERS,
    'other.yaml': 'answers: {START.sh: <result>other</result>}',
  });
  expect(await raymond('flow', '--rehearsal', 'other.yaml')).toMatchObject({ stdout: 'other\n' });
  expect(readdirSync(path('.'))).not.toContain('ran');
});

test('failures, costs and denials are simulated, and costs count', async () => {
  write({
    'flow/START.md': 'x',
    'flow/rehearsal.yaml': `answers:
  START:
    - {failure: overloaded, cost: 0.25}
    - {text: <result>ok</result>, cost: 0.5, denied: [Bash]}
`,
  });
  const { code, stderr } = await raymond('flow', '--rehearse');
  expect(code).toBe(0);
  expect(stderr).toMatch(/Bash/);
  expect((await raymond('list')).stdout).toContain('$0.75');
});

test('a resume continues the rehearsal, with the remaining answers', async () => {
  write({
    'flow/START.md': 'x',
    'flow/BROKEN.sh': 'test -e repaired && echo "<goto>ASK</goto>"',
    'flow/ASK.md': 'x',
    'flow/END.md': '{{result}}',
    'flow/rehearsal.yaml': `answers:
  START: [<goto>START</goto>, <goto>BROKEN</goto>]
  ASK: [<ask next="ASK">one?</ask>, <ask next="END">two?</ask>]
  END: <result>done</result>
replies: [first, second]
`,
  });
  const failed = await raymond('flow', '--rehearse', '--scripts', '--workflow-id', 'r');
  expect(failed).toMatchObject({ code: 1 });
  write({ repaired: '' });
  const resumed = await raymond('resume', 'r');
  expect(resumed.stderr.split('\n')[0]).toContain('It executes scripts (--scripts).');
  expect(resumed).toMatchObject({ code: 0, stdout: 'done\n' });
  const events = read('.raymond/state/r.jsonl');
  expect(events).toMatch(/"text":"first"[\s\S]*"text":"second"/);
});

test("a step's answer is kept in its folder, which only the user can read", async () => {
  write({ 'flow/START.md': 'Say <result>hello</result>.' });
  await raymond('flow', '--rehearse', '--workflow-id', 'one');
  const file = '.raymond/runs/one/steps/main/1/answer';
  expect(read(file)).toBe('<result>hello</result>');
  expect(statSync(path(file)).mode & 0o777).toBe(0o600);
});

test.each([
  ['answers: {START: {txt: a}}', 'rehearsal.yaml:1:19: answers.START has no key "txt".', 'text'],
  ['answers: {START: {failure: crash}}', 'answers.START.failure must be one of', 'crashed'],
  ['replys: [a]', 'rehearsal.yaml:1:1: This file has no key "replys".', 'replies'],
  ['answers: {STRAT: a}', 'There is no state "STRAT".', 'START.md'],
  ['answers: [', 'rehearsal.yaml:1:11: This is not valid YAML', ''],
])('rejects %s before the run starts', async (text, fact, remedy) => {
  write({ 'flow/START.md': 'x', 'flow/rehearsal.yaml': text });
  const { code, stderr } = await raymond('flow', '--rehearse');
  expect(code).toBe(64);
  expect(stderr).toContain(fact);
  expect(stderr).toContain(remedy);
  expect(readdirSync(path('.'))).not.toContain('.raymond');
});

test('a missing file is reported', async () => {
  write({ 'flow/START.md': 'x' });
  mkdirSync(path('empty'));
  const { code, stderr } = await raymond('flow', '--rehearsal', 'nowhere.yaml');
  expect(code).toBe(64);
  expect(stderr).toMatch(/nowhere\.yaml does not exist\.\n +Name an existing file\./);
});
