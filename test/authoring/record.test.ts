import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settingsOf } from '../../src/cli/author/test.ts';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { readEvents } from '../../src/journal/read-journal.ts';
import type { RunEvent } from '../../src/model/event.ts';
import { findTests } from '../../src/workflow-tests/find-tests.ts';
import { runTest } from '../../src/workflow-tests/run-test.ts';
import { testPorts } from '../../src/world/wire.ts';
import { linesOf } from '../journal/fixtures.ts';
import { sandbox } from './sandbox.ts';

const { path, write, read, raymond } = sandbox();

/**
 * Forks, calls, a question, racing scripts, a reminder, a judge, a temporary failure and a
 * permanent one.
 */
const EVERYTHING = {
  'flow/START.md':
    '---\nallowed_transitions: [{tag: fork, target: WORK, next: WAIT}, {tag: fork, target: BROKEN, next: WAIT}]\n---\nFork {{input}} {{color}}.',
  'flow/WORK.sh': 'sleep 0.0$((RANDOM % 9)); echo "<call return=\\"AFTER\\">DEEP</call>"',
  'flow/DEEP.md': 'Deep.',
  'flow/AFTER.sh': 'sleep 0.0$((RANDOM % 9)); echo "<result>$RAYMOND_RESULT</result>"',
  'flow/WAIT.md':
    '---\nevaluators: [{prompt: JUDGE.md, expect: "YES", then: {tag: goto, target: OTHER}}]\n---\nWait.',
  'flow/JUDGE.md': 'Judge {{transition}}.',
  'flow/OTHER.md': 'Other {{result}}.',
  'flow/BROKEN.sh': 'echo no >&2; exit 3',
  'flow/rehearsal.yaml': `
answers:
  START:
    - no tag at all
    - |
      <fork next="WAIT" n="1">WORK</fork>
      <fork next="WAIT" n="2">WORK</fork>
      <fork next="WAIT" n="3">WORK</fork>
      <fork next="WAIT" n="4">BROKEN</fork>
  DEEP:
    - {failure: overloaded, message: busy, cost: 0.25}
    - {text: <result>deep</result>, cost: 0.5, denied: [Bash]}
  WAIT: <ask next="OTHER">Which one?</ask>
  JUDGE: <result>YES</result>
  OTHER: <result>the end</result>
replies: [the first]
`,
};

/** Many racing agents, so that many inputs arrive together. */
const CROWD = {
  'flow/START.md': `Begin. ${'<fork next="END">WORK</fork>'.repeat(7)}`,
  'flow/WORK.sh': 'sleep 0.0$((RANDOM % 6)); echo "<call return=\\"AFTER\\">DEEP</call>"',
  'flow/DEEP.md': 'Deep. <result>deep</result>',
  'flow/AFTER.sh':
    'sleep 0.0$((RANDOM % 6)); [ $((RANDOM % 3)) = 0 ] && echo "<result>over</result>" || echo "<goto>ASK</goto>"',
  'flow/ASK.md': 'Ask. <ask next="AFTER">Go on?</ask>',
  'flow/END.md': 'End. <result>end</result>',
  'flow/rehearsal.yaml': `answers: {START: '${'<fork next="END">WORK</fork>'.repeat(7)}'}`,
};

test.each([
  ['with every kind of step', EVERYTHING, []],
  ['with many agents', CROWD, []],
  ['with many agents that must queue', CROWD, ['--max-parallel', '2']],
] as const)('a recorded run %s replays to the identical journal', async (_, files, options) => {
  write(files);
  await raymond('flow', '--rehearse', '--workflow-id', 'r', ...options);
  expect((await raymond('test', '--record', 'r')).code).toBe(0);
  const journal = await journalOf('r');
  for (let time = 0; time < 3; time++) {
    const [named] = await findTests([path('flow/r.test.yaml')], [], AGENTS);
    if (!named) throw new Error('there is no test');
    const report = await runTest(path('flow'), named, settingsOf(named.test), testPorts({}));
    expect(report.problems).toEqual([]);
    expect(comparable(report.events)).toEqual(comparable(journal));
  }
});

async function journalOf(run: string): Promise<readonly RunEvent[]> {
  const journal: RunEvent[] = [];
  for await (const { seq: _seq, ...event } of readEvents(
    realDisk,
    path(`.raymond/state/${run}.jsonl`),
  ))
    journal.push(event);
  return journal;
}

test('a recording contains every kind of input, and only the user can read it', async () => {
  write(EVERYTHING);
  const ended = await raymond(
    'flow',
    '--rehearse',
    '--workflow-id',
    'r',
    '--input',
    'x',
    '--set',
    'color=red',
    '--budget',
    '50',
  );
  expect(ended.code).toBe(1);
  const recorded = await raymond('test', '--record', 'r');
  expect(recorded.stdout).toBe(`${path('flow/r.test.yaml')}\n`);
  expect(statSync(path('flow/r.test.yaml')).mode & 0o777).toBe(0o600);

  const journal = await journalOf('r');
  expect(new Set(journal.map(({ type }) => type))).toEqual(
    new Set([
      ...['run-started', 'workflow-read', 'step-started', 'step-ended', 'step-failed'],
      ...['agent-moved'],
      ...['agent-forked', 'agent-asked', 'agent-answered', 'agent-reminded', 'judge-called'],
      ...['agent-waits', 'agent-woke', 'agent-failed', 'agent-ended', 'run-ended'],
    ]),
  );
});

/** Without times, ids and paths, and without who executed a step: that is the test now. */
function comparable(events: readonly RunEvent[]): unknown {
  const started = events[0];
  if (started?.type !== 'run-started') throw new Error('the journal has no beginning');
  const sessions = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'step-started' && event.session)
      sessions.set(event.session.id, sessions.get(event.session.id) ?? `session ${sessions.size}`);
  }
  const ids = new Map([...sessions, [started.run, 'the run'], [started.cwd, 'here']]);
  return JSON.parse(JSON.stringify(events), (key, value) =>
    LEFT_OUT.has(key) ? undefined : (ids.get(value) ?? value),
  );
}

const LEFT_OUT = new Set(['at', 'until', 'deadline', 'executor', 'worker']);

test('an expired timeout is replayed, and a later one does not come earlier', async () => {
  write({
    'flow/START.md': 'x',
    'flow/ON.md': 'x',
    'flow/flow.test.yaml': `
settings: {max_iterations: 0}
recorded:
  - {agent: main, state: START, answer: '<ask next="ON" timeout="1h" timeout_next="START">a?</ask>'}
  - {agent: main, came: time}
  - {agent: main, state: START, answer: '<ask next="ON" timeout="1h" timeout_next="START">b?</ask>'}
  - {agent: main, reply: yes}
  - {agent: main, state: ON, failure: usage-limit, message: limit}
  - {came: end of usage limit}
  - {agent: main, state: ON, answer: <result>done</result>}
expect: {path: [START, START, ON], result: done}
`,
  });
  expect(await raymond('test', 'flow')).toMatchObject({ code: 0 });
});

test.each([
  [
    'a state that is no longer asked',
    { 'flow/START.md': 'x' },
    '[{agent: main, state: OTHER, answer: x}]',
    'the recording has OTHER here',
  ],
  [
    'more steps than the recording',
    { 'flow/START.md': 'x', 'flow/ON.md': 'x' },
    '[{agent: main, state: START, answer: <goto>ON</goto>}]',
    'the recording has no more steps of this agent',
  ],
  [
    'fewer steps than the recording',
    { 'flow/START.md': 'x' },
    '[{agent: main, state: START, answer: <result>x</result>}, {agent: main, state: START, answer: y}]',
    'The run ended before entry 2 of the recording, the end of START of main.',
  ],
  [
    'an agent that does not exist',
    { 'flow/START.md': 'x' },
    '[{agent: main_x1, state: START, answer: x}]',
    'Entry 1 of the recording, the end of START of main_x1, never arrived',
  ],
  [
    'a question that was not asked',
    { 'flow/START.md': 'x' },
    '[{agent: main, reply: x}, {agent: main, state: START, answer: x}]',
    'Entry 1 of the recording, the reply main, never arrived',
  ],
  [
    'a question without the reply',
    { 'flow/START.md': 'x' },
    '[{agent: main, state: START, answer: <ask next="START">a?</ask>}, {agent: b, reply: x}]',
    'Entry 2 of the recording, the reply b, never arrived',
  ],
])('a replay that finds %s fails, and reports where', async (_, files, recorded, message) => {
  write({ ...files, 'flow/r.test.yaml': `recorded: ${recorded}` });
  const { code, stdout } = await raymond('test', 'flow');
  expect(code).toBe(1);
  expect(stdout).toContain(message);
});

test('nothing is overwritten, and a run that has not finished is not recorded', async () => {
  write({ 'flow/START.md': 'Say <result>hello</result>.' });
  await raymond('flow', '--rehearse', '--workflow-id', 'r');
  write({ 'flow/r.test.yaml': 'mine' });
  const again = await raymond('test', '--record', 'r');
  expect(again).toMatchObject({ code: 64, stdout: '' });
  expect(again.stderr).toMatch(/r\.test\.yaml already exists\.\n +Remove or rename it/);
  expect(read('flow/r.test.yaml')).toBe('mine');

  const begun = (await journalOf('r'))
    .slice(0, 2)
    .map((event) => (event.type === 'run-started' ? { ...event, run: 'half' } : event));
  const half = linesOf(begun, 1);
  write({ '.raymond/state/half.jsonl': half.toString() });
  expect((await raymond('test', '--record', 'half')).stderr).toMatch(/half has not finished\./);
  expect((await raymond('test', '--record', 'nobody')).stderr).toMatch(/nobody/);

  write({ 'flow/START.md': 'Say <goto>START</goto>.' });
  await raymond('flow', '--rehearse', '--workflow-id', 'twice', '--max-iterations', '2');
  await raymond('resume', 'twice', '--max-iterations', '4');
  const { stderr } = await raymond('test', '--record', 'twice');
  expect(stderr).toMatch(/twice was stopped or resumed.*\n +Record a run that finished/);
});

test('a run of a YAML workflow is recorded beside it', async () => {
  write({ 'flow.yaml': 'states: {START: {prompt: "Say <result>hello</result>."}}' });
  await raymond('flow.yaml', '--rehearse', '--workflow-id', 'r');
  expect((await raymond('test', '--record', 'r')).stdout).toBe(`${path('flow.r.test.yaml')}\n`);
  expect(await raymond('test', 'flow.yaml')).toMatchObject({ code: 0 });
});
