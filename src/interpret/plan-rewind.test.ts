import { expect, test } from 'vitest';
import { failed, interrupted, makeRun, type Stage } from '../../test/make-run.ts';
import { planFor, rewindStage, rewound } from '../../test/rewound-run.ts';
import { filesAt } from './files-at.ts';
import type { PastStep } from './past.ts';

const flow = { START: [], N: [], W: [], M: [], 'S.sh': [] };
const free = { settings: { budgetUsd: 0, maxParallelPrompts: 99 } };

function plan(stage: Stage, agent: string, step: number) {
  const planned = planFor(stage, { kind: 'to', agent, step });
  if (!planned.ok) throw new Error(planned.problem);
  return planned.plan;
}

const ids = (agents: readonly { readonly id: string }[]) => agents.map(({ id }) => id).sort();

test('children that were forked after the moment are gone, with their own children', () => {
  const stage = makeRun(flow, free);
  stage.turn('<fork next="N">W</fork>');
  stage.turn('<fork next="N">W</fork>', 'main_w1');
  stage.turn('<result>x</result>', 'main_w1_w1');
  const { event } = plan(stage, 'main', 1);
  expect([ids(event.agents), event.gone.toSorted()]).toEqual([['main'], ['main_w1', 'main_w1_w1']]);
});

test('agents that share a directory go back together', () => {
  const stage = makeRun(flow, free);
  stage.turn('<fork next="N">W</fork>');
  stage.turn('<goto>N</goto>', 'main', 0.25);
  stage.turn('<goto>N</goto>', 'main_w1', 0.5);
  const { event } = plan(stage, 'main', 2);
  expect(ids(event.agents)).toEqual(['main', 'main_w1']);
  expect(event.costUsd).toBe(0.75);
  expect(event.abandoned).toEqual([
    { agent: 'main', first: 2, last: 2 },
    { agent: 'main_w1', first: 1, last: 1 },
  ]);
});

test('agents in other directories and worktrees stay where they are', () => {
  const stage = makeRun(flow, free);
  stage.turn('<fork cd="else">W</fork><fork worktree="true">W</fork><goto>N</goto>');
  stage.turn('<goto>N</goto>');
  stage.turn('<goto>N</goto>', 'main_w1');
  stage.turn('<goto>N</goto>', 'main_w2');
  expect(ids(plan(stage, 'main', 2).event.agents)).toEqual(['main']);
  expect(ids(plan(stage, 'main_w1', 1).event.agents)).toEqual(['main_w1']);
  expect(ids(plan(stage, 'main_w2', 1).event.agents)).toEqual(['main_w2']);
});

test('notes of abandoned steps go back, and those of other agents stay', () => {
  const stage = makeRun(flow, free);
  const notes = (agent: string, changes: Record<string, string | null>) => {
    stage.start(agent);
    const report = interrupted();
    const changed = Object.entries(changes).map(
      ([path, text]) => [path, text === null ? null : { text, sha256: text }] as const,
    );
    const account = { ...report.account, notes: Object.fromEntries(changed) };
    stage.end({ ...report, account }, agent);
  };
  stage.turn('<fork cd="else">W</fork><goto>N</goto>');
  notes('main', { 'a.md': 'old', 'gone.md': 'here' });
  notes('main', { 'a.md': 'new', 'both.md': 'main', 'gone.md': null });
  notes('main_w1', { 'w.md': 'kept', 'both.md': 'child' });
  rewindStage(stage, { kind: 'to', agent: 'main', step: 3 });
  const texts = () =>
    Object.fromEntries([...stage.run.notes].map(([path, { text }]) => [path, text]));
  expect(texts()).toEqual({
    ...{ 'a.md': 'old', 'gone.md': 'here', 'both.md': 'child', 'w.md': 'kept' },
  });
  expect(stage.run.notes.get('both.md')).toMatchObject({ agent: 'main_w1', step: 1 });
  rewindStage(stage, { kind: 'undo' });
  expect(texts()).toEqual({ 'a.md': 'new', 'both.md': 'child', 'w.md': 'kept' });
});

test('an agent that got the result of a child goes back with it', () => {
  const stage = makeRun(flow, free);
  stage.turn('<fork cd="a">W</fork><fork cd="b">W</fork><join>M</join>');
  stage.turn('<result>1</result>', 'main_w1');
  stage.turn('<result>2</result>', 'main_w2');
  stage.turn('<result>all</result>');
  const { event } = plan(stage, 'main_w1', 1);
  expect(event.agents).toMatchObject([
    { id: 'main_w1', status: { kind: 'ready' } },
    { id: 'main', status: { kind: 'joining' } },
  ]);
  rewindStage(stage, { kind: 'to', agent: 'main_w1', step: 1 });
  // The result of the other child still counts.
  expect(stage.agent().status).toMatchObject({ kind: 'joining', open: 1, successes: 1 });
  stage.resume();
  stage.turn('<result>again</result>', 'main_w1');
  expect(stage.agent()).toMatchObject({ state: 'M.md', joined: ['main_w1', 'main_w2'] });
});

test('a child that a join has stopped comes back with the agent of the join', () => {
  const stage = makeRun(flow, free);
  stage.turn('<fork cd="a">W</fork><fork cd="b">W</fork><goto>N</goto>');
  stage.turn('<join of="any">M</join>');
  stage.turn('<result>1</result>', 'main_w1');
  expect(stage.run.endedAgents.get('main_w2')?.end.kind).toBe('stopped');
  rewindStage(stage, { kind: 'to', agent: 'main', step: 2 });
  expect(stage.agent('main_w2').status.kind).toBe('ready');
});

test('a conversation that continued is branched at its last message before the step', () => {
  const stage = makeRun(flow, free);
  stage.turn('<goto>N</goto>');
  stage.turn('<goto>M</goto>');
  stage.turn('<goto>N</goto>');
  const [agent] = plan(stage, 'main', 2).event.agents;
  expect(agent?.session).toEqual({
    kind: 'branch',
    from: 's1',
    at: 'end of 3',
    executor: 'scripted',
  });
  // Nothing was said after the moment.
  const [newest] = plan(stage, 'main', 3).event.agents;
  expect(newest?.session).toMatchObject({ kind: 'branch', from: 's1', at: 'end of 6' });
  expect(plan(stage, 'main', 1).event.agents[0]?.session).toEqual({ kind: 'none' });
});

test('the conversation of a caller is also cut off', () => {
  const stage = makeRun(flow, free);
  stage.turn('<call return="M">N</call>');
  stage.turn('<result>r</result>');
  stage.turn('<goto>N</goto>');
  const [agent] = plan(stage, 'main', 2).event.agents;
  expect(agent).toMatchObject({
    session: { kind: 'branch', from: 's1', at: 'end of 3' },
    stack: [{ state: 'M.md', session: { kind: 'branch', from: 's1', at: 'end of 3' } }],
  });
});

test('a question is open again, with its full time', () => {
  const stage = makeRun(flow, free);
  stage.turn('<fork next="N">W</fork>');
  stage.turn('<ask next="N" timeout="1h" timeout_next="M">?</ask>');
  const asked = stage.agent().status;
  stage.turn('<goto>N</goto>', 'main_w1');
  stage.handle({
    kind: 'person-answered',
    at: stage.now,
    agent: 'main',
    askedAt: asked.kind === 'asking' ? asked.askedAt : 0,
    text: 'yes',
  });
  const { now } = stage;
  rewindStage(stage, { kind: 'to', agent: 'main_w1', step: 1 });
  expect(stage.agent().status).toMatchObject({
    kind: 'asking',
    askedAt: now,
    deadline: now + 3_600_000,
  });
  expect(stage.run.status).toEqual({ kind: 'ended', outcome: 'interrupted' });
});

test('visits and reminders go back, money does not', () => {
  const stage = makeRun(flow, free);
  stage.turn('<goto>N</goto>', 'main', 1);
  stage.turn('<goto>N</goto>', 'main', 2);
  rewindStage(stage, { kind: 'to', agent: 'main', step: 2 });
  expect(stage.agent()).toMatchObject({ steps: 2, costUsd: 3, visits: { '/flow#N.md': 1 } });
  expect(stage.run).toMatchObject({ totalCostUsd: 3, iterations: 2 });
});

test('a run that failed or completed can be rewound, and continues', () => {
  const stage = makeRun(flow, free);
  stage.turn('<goto>N</goto>');
  stage.turn(failed('refused'));
  stage.idle();
  rewindStage(stage, { kind: 'to', agent: 'main', step: 1 });
  stage.resume();
  stage.turn('<result>done</result>');
  stage.idle();
  expect(stage.run).toMatchObject({ result: 'done', status: { outcome: 'completed' } });
  rewindStage(stage, { kind: 'to', agent: 'main', step: 3 });
  expect(stage.run).toMatchObject({ result: undefined, status: { outcome: 'interrupted' } });
  expect(stage.agent().status.kind).toBe('ready');
});

test('undos take rewinds back one after the other, also after further steps', () => {
  const stage = makeRun(flow, free);
  for (let n = 0; n < 3; n++) stage.turn('<goto>N</goto>');
  rewindStage(stage, { kind: 'to', agent: 'main', step: 3 });
  rewindStage(stage, { kind: 'to', agent: 'main', step: 2 });
  stage.resume();
  stage.turn('<goto>M</goto>');
  rewindStage(stage, { kind: 'undo' });
  expect(stage.agent()).toMatchObject({ state: 'N.md', visits: { '/flow#N.md': 2 } });
  rewindStage(stage, { kind: 'undo' });
  expect(stage.agent()).toMatchObject({ state: 'N.md', visits: { '/flow#N.md': 3 } });
  expect(rewound(stage, { kind: 'undo' }).planned).toEqual({
    ok: false,
    problem: 'nothing-to-undo',
  });
});

test.each([
  ['an unknown agent', { agent: 'nobody', step: 1 }, 'no-agent'],
  ['a step that did not happen', { agent: 'main', step: 9 }, 'no-step'],
  ['an abandoned step', { agent: 'main', step: 2 }, 'abandoned'],
])('it refuses %s', (_, to, problem) => {
  const stage = makeRun(flow, free);
  stage.turn('<goto>N</goto>');
  stage.turn('<goto>N</goto>');
  rewindStage(stage, { kind: 'to', agent: 'main', step: 1 });
  expect(planFor(stage, { kind: 'to', ...to })).toEqual({ ok: false, problem });
});

test('it refuses while a step runs', () => {
  const stage = makeRun(flow, free);
  stage.turn('<goto>N</goto>');
  stage.start();
  const to = { kind: 'to', agent: 'main', step: 1 } as const;
  expect(planFor(stage, to)).toEqual({ ok: false, problem: 'running' });
});

test('the branch of a child that is gone stays, and the next child gets another one', () => {
  const stage = makeRun(flow, free);
  stage.turn('<fork worktree="x" next="N">W</fork>');
  rewindStage(stage, { kind: 'to', agent: 'main', step: 1 });
  stage.branches.add('raymond/flow-00000000/x');
  stage.resume();
  stage.turn('<fork worktree="x" next="N">W</fork>');
  expect(stage.agent('main_w2').worktree?.branch).toBe('raymond/flow-00000000/x-2');
});

const step = (started: number, ended: number | undefined, more: Partial<PastStep> = {}) => ({
  ...{ agent: 'main', step: 1, cwd: '/p', isPrompt: true, before: undefined, after: undefined },
  ...{ started, ended },
  ...more,
});

test.each([
  ['its own record', 5, [step(1, 3), step(5, 8, { before: 'b' })], 'b'],
  ['the record after the step before', 5, [step(1, 3, { after: 'a' }), step(5, 8)], 'a'],
  ['none, after a step without a record', 5, [step(1, 3), step(5, 8)], undefined],
  ['none, if another step runs', 5, [step(1, 9, { after: 'x' }), step(5, 8)], undefined],
  ['its own, if another step runs', 5, [step(1, 9), step(5, 8, { before: 'b' })], 'b'],
  [
    'the record of the step that ended last',
    9,
    [step(1, 8, { after: 'y' }), step(2, 3, { after: 'x' })],
    'y',
  ],
  ['the record before the next step', 4, [step(1, 3), step(5, 8, { before: 'b' })], 'b'],
  ['none without steps', 4, [], undefined],
])('the files at a moment: %s', (_, seq, steps, tree) => {
  expect(filesAt({ seq, steps })).toBe(tree);
});
