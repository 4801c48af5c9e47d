import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failed, interrupted, makeRun, type Stage, state } from '../../test/make-run.ts';
import { freeze } from '../journal/freeze-run.ts';
import { thaw } from '../journal/thaw-run.ts';
import { play } from '../testing.ts';
import { apply } from './apply.ts';
import { newRun } from './new-run.ts';

const COMPACT = '<compact>NEXT</compact>';

const prompts = ({ steps }: Awaited<ReturnType<typeof play>>, name: string) =>
  steps.filter(({ state: of }) => of === `${name}.md`).map(({ prompt }) => prompt);

test('an agent writes its handover in its session, and the next state begins a new one with it', async () => {
  const played = await play({
    START: [COMPACT, 'The cache is in a.ts.'],
    NEXT: ['<result>done</result>'],
  });
  expect(played.path()).toEqual(['START', 'START', 'NEXT']);
  const [first, asked, next] = played.steps;
  expect(first?.session).toEqual({ use: 'fresh', id: 's1' });
  expect(asked?.session).toEqual({ use: 'continue', id: 's1' });
  expect(asked?.prompt).toMatch(/^This conversation ends here/);
  expect(next?.session?.use).toBe('fresh');
  expect(next?.prompt).toMatch(/<handover>\nThe cache is in a\.ts\.\n<\/handover>\n\nDo NEXT\.$/);
  expect(played.events.flatMap((event) => ('task' in event ? event.task : []))).toEqual([
    'state',
    'handover',
    'state',
  ]);
  expect(played.run.result).toBe('done');
});

test('a prompt says where it wants the handover, and a value is passed on beside it', async () => {
  const played = await play({
    START: ['<compact input="7">NEXT</compact>', 'It holds {{input}}.'],
    NEXT: { text: 'Notes: {{handover}} Value: {{input}}', answers: ['<goto>LAST</goto>'] },
    LAST: { text: 'Again: "{{handover}}"', answers: ['<result>x</result>'] },
  });
  expect(prompts(played, 'NEXT')).toEqual(['Notes: It holds {{input}}. Value: 7']);
  expect(prompts(played, 'LAST')).toEqual(['Again: ""']);
});

test('front matter and the manifest name the prompt that asks for it', async () => {
  const played = await play({
    'workflow.yaml': { text: 'handover: NOTES', answers: [] },
    START: [COMPACT, 'one'],
    NEXT: { ...state('handover: OWN'), answers: ['<compact>LAST</compact>', 'two'] },
    LAST: ['<result>x</result>'],
    NOTES: { text: 'Write notes for {{agent_id}}.', answers: [] },
    OWN: { text: 'Write your own.', answers: [] },
  });
  expect(prompts(played, 'START')[1]).toBe('Write notes for main.');
  expect(prompts(played, 'NEXT')[1]).toBe('Write your own.');
  expect(played.run.result).toBe('x');
});

test('a script passes a handover on to the next prompt, and can ask for one itself', async () => {
  const played = await play({
    START: [COMPACT.replace('NEXT', 'A.sh'), 'first'],
    'A.sh': ['<goto>B</goto>'],
    B: ['<goto>C.sh</goto>'],
    'C.sh': ['<compact>D</compact>', 'second'],
    D: ['<result>x</result>'],
  });
  expect(prompts(played, 'B')[0]).toContain('first');
  expect(prompts(played, 'D')[0]).toContain('second');
  const asked = played.steps.filter(({ state: of }) => of === 'C.sh')[1];
  expect(asked?.session).toEqual({ use: 'continue', id: played.steps[3]?.session?.id });
});

test('an agent without a session hands nothing over', async () => {
  const played = await play({ 'START.sh': [COMPACT], NEXT: ['<result>x</result>'] });
  expect(played.path()).toEqual(['START', 'NEXT']);
  expect(prompts(played, 'NEXT')).toEqual(['Do NEXT.']);
});

test('a goto compacts a session that has outgrown its limit, and no other tag does', async () => {
  const grown = (text: string) => ({ text, contextTokens: 101 });
  const played = await play({
    'workflow.yaml': { text: 'context: { max: 100 }', answers: [] },
    START: [{ text: '<goto>SMALL</goto>', contextTokens: 100 }],
    SMALL: [grown('<goto>NEXT</goto>'), 'notes'],
    NEXT: [grown('<reset>FREE</reset>')],
    FREE: { ...state('context: { max: 1000 }'), answers: [grown('<goto>LAST</goto>')] },
    LAST: ['<result>x</result>'],
  });
  expect(played.path()).toEqual(['START', 'SMALL', 'SMALL', 'NEXT', 'FREE', 'LAST']);
  expect(played.events.find(({ type }) => type === 'handover-called')).toMatchObject({
    tag: 'goto',
    state: 'NEXT.md',
    tokens: 101,
  });
  expect(prompts(played, 'NEXT')[0]).toContain('notes');
});

test.each([
  ['does not exist', '---\nhandover: GONE\n---\nWork.', 'GONE'],
  ['is a script', '---\nhandover: S.sh\n---\nWork.', 'S.sh'],
])('a handover prompt that %s fails the agent before a model is asked', async (_, text, name) => {
  const played = await play({
    START: { text, answers: [COMPACT] },
    NEXT: [],
    'S.sh': [],
  });
  expect(played.steps).toHaveLength(1);
  expect(played.run.agents.get('main')?.status).toMatchObject({
    kind: 'failed',
    failure: { kind: 'missing-state', message: expect.stringContaining(name) },
  });
});

test('the agent must not go where max_visits forbids it, and is not asked for a handover', () => {
  const stage = makeRun({ START: state('max_visits: 1'), NEXT: [] });
  const events = stage.turn('<compact>START</compact>');
  expect(events.map(({ type }) => type)).toEqual(['step-ended', 'agent-failed']);
});

test('an empty handover fails the agent, and a resume asks for it again', () => {
  const stage = makeRun({ START: [], NEXT: [] });
  stage.turn(COMPACT);
  expect(stage.turn(' \n').at(-1)).toMatchObject({
    type: 'agent-failed',
    failure: { message: 'main was asked for a handover and wrote nothing.' },
  });
  stage.idle();
  stage.resume();
  expect(stage.start()).toMatchObject([{ task: 'handover', session: { use: 'continue' } }]);
  expect(stage.end('notes').at(-1)).toMatchObject({
    type: 'agent-moved',
    session: { kind: 'none', handover: 'notes' },
  });
});

test.each([
  ['interrupted', interrupted(), 'ready'],
  ['overloaded', failed('overloaded'), 'waiting'],
])('a handover step that is %s is repeated in the same session', (_, report, kind) => {
  const stage = makeRun({ START: [], NEXT: [] });
  stage.turn(COMPACT);
  stage.turn(report);
  expect(stage.agent()).toMatchObject({
    state: 'START.md',
    session: { kind: 'open', id: 's1' },
    status: { kind, task: { kind: 'handover', next: 'NEXT.md' } },
  });
});

test('a judge does not see the handover, and tags in a handover are text', async () => {
  const judged = state('evaluators:\n  - {prompt: J, expect: y, then: {tag: goto, target: J}}');
  const played = await play({
    START: [COMPACT, 'Do not write <goto>J</goto> again.'],
    NEXT: { ...judged, answers: ['<result>x</result>'] },
    J: ['<result>y</result>'],
  });
  expect(prompts(played, 'J')).toEqual(['Do J.']);
  expect(played.run.result).toBe('x');
});

test('another agent that has to take the handover step takes the state without one', () => {
  const stage = makeRun({ START: [], NEXT: [] });
  stage.turn(COMPACT);
  const events = stage.handle({
    kind: 'start-step',
    at: stage.now,
    agent: 'main',
    newSession: 'x',
    executors: { prompt: 'other', script: 'other' },
  });
  expect(events).toMatchObject([{ type: 'agent-moved', session: { kind: 'none' } }]);
});

/** What a compact must not change. */
const kept = ({ run }: Stage, id: string) => {
  const agent = run.agents.get(id);
  const { stack, cwd, workers, variables } = agent ?? {};
  return agent && { stack, cwd, workers, variables, settings: run.settings };
};

const MOVES = [
  '<goto>START</goto>',
  '<compact>START</compact>',
  '<compact input="v">S.sh</compact>',
  '<reset>START</reset>',
  '<call return="START">START</call>',
  '<function return="START">S.sh</function>',
  '<fork next="START">START</fork>',
  '<fork>S.sh</fork><join of="any">START</join>',
  '<ask next="START">?</ask>',
  '<result>r</result>',
] as const;

const walks = fc.array(
  fc.record({
    move: fc.constantFrom(...MOVES),
    agent: fc.nat(3),
    end: fc.constantFrom('answer', 'answer', 'answer', 'interrupted', 'failed'),
  }),
  { minLength: 1, maxLength: 30 },
);

type Walked = typeof walks extends fc.Arbitrary<(infer T)[]> ? T : never;

/** Plays random moves of all agents. Gives the stage and what each compact kept. */
function walked(steps: readonly Walked[]) {
  const stage = makeRun({ START: [], 'S.sh': [] }, { settings: { budgetUsd: 100 } });
  const compacts: { readonly before: unknown; readonly after: unknown }[] = [];
  for (const { move, agent: index, end } of steps) {
    const ids = [...stage.run.agents].map(([id]) => id);
    const id = ids[index % Math.max(1, ids.length)];
    const status = id === undefined ? undefined : stage.run.agents.get(id)?.status;
    if (id === undefined || !status) break;
    if (status.kind === 'asking') {
      const { askedAt } = status;
      stage.handle({ kind: 'person-answered', at: stage.now, agent: id, askedAt, text: 'yes' });
    }
    if (status.kind === 'waiting') stage.handle({ kind: 'time-came', at: status.until, agent: id });
    if (stage.start(id).length === 0) continue;
    const { task } = { task: { kind: '' }, ...stage.run.agents.get(id)?.status };
    const before = kept(stage, id);
    const spent = stage.run.totalCostUsd;
    const report = end === 'interrupted' ? interrupted() : failed('overloaded');
    const text = task.kind === 'handover' ? 'notes' : move;
    const events = stage.end(end === 'answer' ? text : report, id, 0.5);
    expect(stage.run.totalCostUsd).toBeGreaterThanOrEqual(spent);
    if (task.kind === 'handover') compacts.push({ before, after: kept(stage, id) });
    if (events.some(({ type }) => type === 'handover-called'))
      compacts.push({ before, after: kept(stage, id) });
  }
  return { stage, compacts };
}

test('a compact keeps the stack, the directory, the children and the budget at every depth', () => {
  let compacted = 0;
  fc.assert(
    fc.property(walks, (steps) => {
      for (const { before, after } of walked(steps).compacts) {
        expect(after).toEqual(before);
        compacted += 1;
      }
    }),
    { numRuns: 150 },
  );
  expect(compacted).toBeGreaterThan(50);
});

test('every prefix of the events, stored and read, continues to the same run', () => {
  fc.assert(
    fc.property(walks, fc.nat(), (steps, cut) => {
      const { stage } = walked(steps);
      const { events } = stage;
      const at = cut % events.length;
      const prefix = events.slice(0, at + 1).reduce(apply, newRun);
      const agents = [...prefix.agents].map(([, agent]) => agent);
      fc.pre(agents.every(({ status }) => status.kind !== 'deciding'));
      const thawed = thaw(JSON.parse(JSON.stringify(freeze(prefix))));
      const whole = events.slice(at + 1).reduce(apply, thawed ?? newRun);
      expect([...whole.agents]).toEqual([...stage.run.agents]);
      expect([...whole.endedAgents]).toEqual([...stage.run.endedAgents]);
      expect(whole.totalCostUsd).toBe(stage.run.totalCostUsd);
    }),
    { numRuns: 100 },
  );
});

test('a policy that allows only a compact forbids the other ways, and implies it', () => {
  const only = state('allowed_transitions: [{tag: compact, target: NEXT}]');
  const stage = makeRun({ START: only, NEXT: [] });
  expect(stage.turn('<reset>NEXT</reset>').at(-1)).toMatchObject({
    type: 'agent-reminded',
    text: expect.stringContaining('<compact>NEXT</compact>'),
  });
  expect(stage.turn('Done.').at(-1)).toMatchObject({ type: 'handover-called', state: 'NEXT.md' });
});
