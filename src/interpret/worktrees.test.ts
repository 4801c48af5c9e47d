// Worktrees in the language: what a fork decides, and what the end of an agent decides.
import { expect, test } from 'vitest';
import { interrupted, makeRun, REPOSITORY, state } from '../../test/make-run.ts';
import type { RunEventOf } from '../model/event.ts';

const FLOW = {
  START: [],
  N: [],
  WORK: [],
  POLICED: state('allowed_transitions: [{tag: fork, target: WORK, next: N}]'),
};
const PATH = `${REPOSITORY.folder}/main_work1`;

function forked(text: string) {
  const stage = makeRun(FLOW);
  const events = stage.turn(text);
  return { stage, child: events.find(isFork), failure: stage.agent().status };
}

const isFork = (event: { type: string }): event is RunEventOf<'agent-forked'> =>
  event.type === 'agent-forked';

test('a fork with a worktree decides its path, its branch and its base', () => {
  const { child, stage } = forked('<fork worktree="fix" item="a" next="N">WORK</fork>');
  expect(child).toMatchObject({
    cwd: PATH,
    variables: { item: 'a' },
    worktree: {
      branch: 'raymond/flow-00000000/fix',
      tree: { path: PATH, base: REPOSITORY.base, repository: '/project/.git' },
    },
  });
  expect(stage.agent('main_work1').worktree).toMatchObject({ wasSeen: false, look: undefined });
});

test('worktree="true" names it after the agent', () => {
  const { child } = forked('<fork worktree="true" next="N">WORK</fork>');
  expect(child?.worktree?.branch).toBe('raymond/flow-00000000/main_work1');
});

test.each([
  ['<fork base="main" next="N">WORK</fork>', 'base belongs to worktree'],
  ['<fork worktree="../x" next="N">WORK</fork>', 'cannot name a worktree'],
  ['<fork worktree="x" base="--force" next="N">WORK</fork>', 'cannot be a base'],
  ['<fork worktree="x" base="missing" next="N">WORK</fork>', 'There is no branch missing.'],
  ['<fork worktree="Taken" next="N">WORK</fork>', 'already exists'],
  [
    '<fork worktree="a">WORK</fork><fork worktree="A">WORK</fork><goto>N</goto>',
    'Two forks ask for a worktree on the branch',
  ],
  ['<reset worktree="x">WORK</reset>', 'worktree is not allowed here'],
])('%s is refused, and no child is forked', (text, message) => {
  const stage = makeRun(FLOW);
  stage.branches.add('raymond/flow-00000000/taken');
  const events = stage.turn(text);
  expect(events.some(isFork)).toBe(false);
  expect(events.at(-1)).toMatchObject({
    type: 'agent-failed',
    failure: { message: expect.stringContaining(message) },
  });
});

test('in a state with a policy the agent is reminded', () => {
  const stage = makeRun(FLOW);
  stage.turn('<goto>POLICED</goto>');
  const events = stage.turn('<fork worktree="x" base="missing" next="N">WORK</fork>');
  expect(events.at(-1)).toMatchObject({
    type: 'agent-reminded',
    failure: { kind: 'bad-worktree', message: 'There is no branch missing.' },
  });
});

test('a policy pins the worktree and the base', () => {
  const stage = makeRun({
    ...FLOW,
    START: state(
      'allowed_transitions: [{tag: fork, target: WORK, next: N, worktree: "true", base: main}]',
    ),
  });
  const written = (text: string) => stage.turn(text).at(-1)?.type;
  expect(written('<fork worktree="true" next="N">WORK</fork>')).toBe('agent-reminded');
  expect(written('<fork worktree="x" base="main" next="N">WORK</fork>')).toBe('agent-reminded');
  expect(written('<fork worktree="true" base="main" next="N">WORK</fork>')).toBe('agent-moved');
});

test('a name of a run that no branch can have is refused', () => {
  const stage = makeRun(FLOW);
  stage.run = { ...stage.run, id: 'a..b' };
  expect(stage.turn('<fork worktree="x" next="N">WORK</fork>').at(-1)).toMatchObject({
    failure: { message: '"a..b" cannot be part of the name of a branch.' },
  });
});

const LOOK = { branch: 'raymond/flow-00000000/fix', commits: 0, dirty: false };

test.each([
  [LOOK, 'removing'],
  [{ ...LOOK, dirty: true }, 'kept'],
  [{ ...LOOK, commits: 1 }, 'kept'],
  [{ ...LOOK, missing: true as const }, 'removing'],
])('%j at the end of the agent: the worktree is %s', (look, fate) => {
  const { stage } = forked('<fork worktree="fix" next="N">WORK</fork>');
  stage.looks.set('main_work1', look);
  expect(stage.turn('<result>done</result>', 'main_work1').at(-1)).toMatchObject({
    type: 'agent-ended',
    worktree: fate,
  });
  expect(stage.run.endedAgents.get('main_work1')?.worktree).toMatchObject({ look, fate });
});

test('a worktree that cannot be judged is kept', () => {
  const { stage } = forked('<fork worktree="fix" next="N">WORK</fork>');
  stage.start('main_work1');
  const report = stage.end('<goto>WORK</goto>', 'main_work1');
  expect(report[0]).toMatchObject({ type: 'step-ended', worktree: LOOK });
  stage.start('main_work1');
  const { status } = stage.agent('main_work1');
  const events = stage.handle({
    kind: 'step-ended',
    at: stage.now,
    agent: 'main_work1',
    step: status.kind === 'running' ? status.step : 0,
    outcome: {
      kind: 'answered',
      reading: { tags: [{ name: 'result', attributes: {}, body: '' }], bad: [] },
      text: '',
      account: { cost: { usd: 0, from: 'told' } },
      denied: [],
      facts: {
        directories: new Map(),
        workflows: new Map(),
        worktrees: new Map(),
        environment: new Set(),
      },
    },
  });
  expect(events.at(-1)).toMatchObject({ type: 'agent-ended', worktree: 'kept' });
});

test('a worktree in which another agent works is kept', () => {
  const { stage } = forked('<fork worktree="fix" next="N">WORK</fork>');
  stage.turn('<fork cd="sub" next="N">WORK</fork>', 'main_work1');
  expect(stage.agent('main_work1_work1').cwd).toBe(`${PATH}/sub`);
  expect(stage.turn('<result></result>', 'main_work1').at(-1)).toMatchObject({ worktree: 'kept' });
});

test('the run ends only after its worktrees are removed', () => {
  const { stage } = forked('<fork worktree="fix" next="N">WORK</fork>');
  stage.turn('<result></result>');
  stage.turn('<result></result>', 'main_work1');
  expect(stage.idle()).toEqual([]);
  stage.stop('now');
  expect(stage.idle()).toEqual([]);
  const settled = { kind: 'worktree-settled', agent: 'main_work1', kept: undefined } as const;
  expect(stage.handle({ ...settled, at: stage.now })).toMatchObject([{ type: 'worktree-settled' }]);
  expect(stage.handle({ ...settled, at: stage.now })).toEqual([]);
  expect(stage.run.endedAgents.get('main_work1')?.worktree?.fate).toBe('removed');
  expect(stage.idle()).toMatchObject([{ type: 'run-ended', outcome: 'completed' }]);
});

test('the worktree of an agent that failed is kept', () => {
  const { stage } = forked('<fork worktree="fix" next="N">WORK</fork>');
  stage.turn('nothing', 'main_work1');
  expect(stage.agent('main_work1')).toMatchObject({
    status: { kind: 'failed' },
    worktree: { look: LOOK, wasSeen: true },
  });
});

test('a join reports the branch, the commits and the changes of each child', () => {
  const stage = makeRun(FLOW);
  const names = ['clean', 'done', 'bad', 'none'];
  const forks = names.map((name) =>
    name === 'none' ? '<fork>WORK</fork>' : `<fork worktree="${name}">WORK</fork>`,
  );
  stage.turn(`${forks.join('')}<join>N</join>`);
  const branch = 'raymond/flow-00000000/done';
  stage.looks.set('main_work2', { branch, commits: 2, dirty: false });
  stage.looks.set('main_work3', { branch: 'c0ffee', commits: 0, dirty: true });
  for (const n of [1, 2, 4]) stage.turn('<result></result>', `main_work${n}`);
  stage.turn('nothing', 'main_work3');
  const rows = JSON.parse(stage.agent().input ?? '');
  expect(rows).toMatchObject([
    { worktree: null, branch: null, commits: 0, dirty: false },
    { worktree: `${REPOSITORY.folder}/main_work2`, branch, commits: 2, dirty: false },
    { status: 'failed', branch: 'c0ffee', commits: 0, dirty: true },
    { status: 'ended' },
  ]);
  expect(rows[3]).not.toHaveProperty('branch');
  const fates = [...stage.run.endedAgents].map(([id, { worktree }]) => [id, worktree?.fate]);
  expect(Object.fromEntries(fates)).toEqual({
    main_work1: 'removing',
    main_work2: 'kept',
    main_work3: 'kept',
    main_work4: undefined,
  });
});

test('a child that a join stops before its start has no worktree', () => {
  const stage = makeRun(FLOW);
  stage.turn('<fork worktree="a">WORK</fork><fork worktree="b">WORK</fork><join of="any">N</join>');
  stage.turn('<result></result>', 'main_work1');
  expect(JSON.parse(stage.agent().input ?? '')).toMatchObject([
    { status: 'ended', branch: null },
    // It had not started, so its worktree was not made.
    { status: 'stopped', branch: null, commits: 0, dirty: false },
  ]);
  expect(stage.run.endedAgents.get('main_work2')?.worktree?.fate).toBe('kept');
});

test.each([
  [LOOK, 'removing', null],
  [{ ...LOOK, dirty: true }, 'kept', LOOK.branch],
  [{ ...LOOK, commits: 1 }, 'kept', LOOK.branch],
  [{ ...LOOK, missing: true as const }, 'removing', null],
])('%j when a join stops a child: the worktree is %s', (look, fate, branch) => {
  const stage = makeRun(FLOW);
  const forks = '<fork worktree="a">WORK</fork><fork worktree="fix">WORK</fork>';
  stage.turn(`${forks}<join of="any">N</join>`);
  stage.looks.set('main_work2', look);
  stage.start('main_work2');
  stage.turn('<result></result>', 'main_work1');
  const events = stage.end(interrupted(), 'main_work2');
  expect(events).toMatchObject([
    { type: 'step-interrupted' },
    { type: 'agent-stopped', worktree: fate },
    { type: 'join-reported' },
  ]);
  expect(JSON.parse(stage.agent().input ?? '')[1]).toMatchObject({ status: 'stopped', branch });
  expect(stage.run.endedAgents.get('main_work2')?.worktree?.fate).toBe(fate);
});

test('a child that a join stops between two steps leaves no worktree without work', () => {
  const stage = makeRun(FLOW);
  const forks = '<fork worktree="a">WORK</fork><fork worktree="fix">WORK</fork>';
  stage.turn(`${forks}<join of="any">N</join>`);
  stage.turn('<goto>WORK</goto>', 'main_work2');
  const events = stage.turn('<result></result>', 'main_work1');
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'agent-stopped', agent: 'main_work2', worktree: 'removing' }),
  );
});
