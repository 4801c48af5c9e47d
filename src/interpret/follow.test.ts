import { describe, expect, test } from 'vitest';
import { failed, makeRun, state } from '../../test/make-run.ts';

const script = {
  START: [],
  'N.md': [],
  R: [],
  T: [],
  'SCRIPT.sh': [],
  'BOTH.md': [],
  'BOTH.sh': [],
  'WINDOWS.bat': [],
  BROKEN: { text: '---\nmodel: [\n---\n', answers: [] },
};
const others = { '/sub': { START: [], R: [] } };

/** An agent in session s1 that was called from START, in its own directory. */
function called() {
  const stage = makeRun(script, { others, input: 'first' });
  stage.turn('<reset cd="here">N</reset>');
  stage.turn('<call return="R">N</call>');
  stage.start();
  return stage;
}

const here = '/project/here';
const frame = {
  state: 'R.md',
  workflow: '/flow',
  session: { kind: 'open', id: 's2', executor: 'scripted' },
  cwd: here,
};
const mine = { kind: 'open', id: 's3', executor: 'scripted' };
const fresh = { kind: 'none' };
const branch = { kind: 'branch', from: 's3', executor: 'scripted' };
const pushed = { ...frame, session: mine };
const N = { state: 'N.md', workflow: '/flow', cwd: here, stack: [frame], session: mine };
const SUB = { ...N, state: 'START.md', workflow: '/sub' };

describe('each tag: state, workflow, session, stack, directory, value', () => {
  test.each([
    ['<goto>N</goto>', N, undefined],
    ['<goto input="v">N.md</goto>', N, 'v'],
    ['<reset>N</reset>', { ...N, session: fresh }, undefined],
    ['<reset cd="sub" input="v">N</reset>', { ...N, session: fresh, cwd: `${here}/sub` }, 'v'],
    ['<reset cd="/abs">N</reset>', { ...N, session: fresh, cwd: '/abs' }, undefined],
    ['<call return="R">N</call>', { ...N, session: branch, stack: [frame, pushed] }, undefined],
    ['<call return="R" input="v">N</call>', { ...N, session: branch, stack: [frame, pushed] }, 'v'],
    [
      '<function return="R">N</function>',
      { ...N, session: fresh, stack: [frame, pushed] },
      undefined,
    ],
    [
      '<function return="R" input="v">N</function>',
      { ...N, session: fresh, stack: [frame, pushed] },
      'v',
    ],
    ['<fork next="N">T</fork>', N, undefined],
    ['<fork input="v">T</fork><goto input="w">N</goto>', N, 'w'],
    ['<result> v\n</result>', { ...frame, stack: [] }, ' v\n'],
    [
      '<call-workflow return="R">/sub</call-workflow>',
      { ...SUB, session: branch, stack: [frame, pushed] },
      undefined,
    ],
    [
      '<function-workflow return="R" cd="d" input="v"> /sub </function-workflow>',
      { ...SUB, session: fresh, stack: [frame, pushed], cwd: `${here}/d` },
      'v',
    ],
    ['<fork-workflow next="N" cd="d">/sub</fork-workflow>', N, undefined],
    [
      '<reset-workflow cd="/abs">/sub</reset-workflow>',
      { ...SUB, session: fresh, stack: [], cwd: '/abs' },
      undefined,
    ],
  ])('%s', (text, place, input) => {
    const stage = called();
    stage.end(text);
    expect(stage.agent()).toMatchObject(place);
    expect(stage.agent().stack).toEqual(place.stack);
    expect(stage.agent().input).toBe(input);
  });

  test('<result> with an empty stack ends the agent', () => {
    const stage = makeRun(script);
    expect(stage.turn('<result> v\n</result>').at(-1)).toMatchObject({
      type: 'agent-ended',
      result: ' v\n',
    });
    expect(stage.run.result).toBe(' v\n');
    expect(stage.run.agents.size).toBe(0);
  });

  test('<ask> waits, and continues in the same session when answered', () => {
    const stage = called();
    stage.end('<ask next="N" timeout="1h" timeout_next="T">Which?</ask>');
    const { status, session, stack } = stage.agent();
    expect(status).toMatchObject({
      kind: 'asking',
      question: 'Which?',
      next: 'N.md',
      timeoutNext: 'T.md',
    });
    expect(status.kind === 'asking' && (status.deadline ?? 0) - status.askedAt).toBe(3_600_000);
    expect({ session, stack }).toEqual({ session: mine, stack: [frame] });
  });

  test('model and effort of a function apply to that state only', () => {
    const stage = makeRun(script);
    stage.turn('<function return="R" model="haiku" effort="low">N</function>');
    expect(stage.agent()).toMatchObject({ choices: { model: 'haiku', effort: 'low' } });
    stage.turn('<goto>T</goto>');
    expect(stage.agent()).toMatchObject({ choices: {} });
  });
});

describe('children', () => {
  test.each([
    [
      '<fork next="N" item="1">T</fork>',
      { state: 'T.md', workflow: '/flow', cwd: here, variables: { item: '1' }, input: undefined },
    ],
    [
      '<fork next="N" cd="d" input="v">T</fork>',
      { state: 'T.md', cwd: `${here}/d`, variables: {}, input: 'v' },
    ],
    [
      '<fork-workflow next="N" cd="/abs" item="1">/sub</fork-workflow>',
      { state: 'START.md', workflow: '/sub', cwd: '/abs', variables: { item: '1' } },
    ],
  ])('%s: a new session and an empty stack', (text, child) => {
    const stage = called();
    const [, forked] = stage.end(text);
    const id = forked?.type === 'agent-forked' ? forked.agent : '';
    expect(stage.agent(id)).toMatchObject({ ...child, session: fresh, stack: [], steps: 0 });
  });

  test('a child’s cd does not change the directory of the parent, and its end does not change the counter', () => {
    const stage = makeRun(script);
    stage.turn('<fork next="N" cd="d">T</fork>');
    expect(stage.agent().cwd).toBe('/project');
    stage.turn('<result>x</result>', 'main_t1');
    stage.turn('<fork>T</fork><fork>R</fork><goto>N</goto>');
    expect([...stage.run.agents].map(([id]) => id).sort()).toEqual(['main', 'main_r3', 'main_t2']);
  });
});

describe('agents without a session', () => {
  const scripts = { 'START.sh': [], 'N.sh': [], P: [], R: [] };
  test('a call from a script starts a new session, and so does its return', () => {
    const stage = makeRun(scripts);
    stage.turn('<call return="R">P</call>');
    expect(stage.agent()).toMatchObject({
      session: fresh,
      stack: [{ session: fresh, state: 'R.md' }],
    });
    stage.turn('<result>x</result>');
    expect(stage.agent()).toMatchObject({ session: fresh, state: 'R.md', stack: [] });
  });

  test('a script keeps the session of its agent, even one that is not branched yet', () => {
    const stage = makeRun({ START: [], 'N.sh': [], P: [], R: [] });
    stage.turn('<call return="R">N</call>');
    stage.turn('<call return="R">N</call>');
    expect(stage.agent()).toMatchObject({
      session: { kind: 'branch', from: 's1', executor: 'scripted' },
      stack: [
        { session: { kind: 'open', id: 's1', executor: 'scripted' } },
        { session: { kind: 'branch', from: 's1', executor: 'scripted' } },
      ],
    });
    stage.turn('<goto>P</goto>');
    expect(stage.start()[0]).toMatchObject({ session: { use: 'branch', from: 's1' } });
  });
});

test.each(['call-workflow', 'function-workflow'])(
  'the frame of %s restores workflow, directory and session',
  (tag) => {
    const stage = makeRun(script, { others });
    stage.turn(`<${tag} return="R">/sub</${tag}>`);
    stage.turn('<reset cd="/far">R</reset>');
    expect(stage.agent()).toMatchObject({ workflow: '/sub', cwd: '/far', state: 'R.md' });
    stage.turn('<result>x</result>');
    expect(stage.agent()).toMatchObject({
      workflow: '/flow',
      cwd: '/project',
      state: 'R.md',
      session: { kind: 'open', id: 's1', executor: 'scripted' },
      stack: [],
      input: 'x',
    });
  },
);

describe('a move that cannot be followed fails the agent, and no part of it happens', () => {
  test.each([
    ['<goto>NOWHERE</goto>', 'missing-state', 'NOWHERE'],
    ['<goto>BOTH</goto>', 'ambiguous-state', 'BOTH.sh'],
    ['<goto>WINDOWS</goto>', 'missing-state', 'Unix'],
    ['<goto>BROKEN</goto>', 'broken-state', 'BROKEN.md'],
    ['<call return="NOWHERE">N</call>', 'missing-state', 'NOWHERE'],
    ['<ask next="NOWHERE">?</ask>', 'missing-state', 'NOWHERE'],
    ['<ask next="N" timeout="1s" timeout_next="NOWHERE">?</ask>', 'missing-state', 'NOWHERE'],
    ['<reset cd="missing">N</reset>', 'bad-directory', 'directory missing does not exist'],
    [
      '<fork next="N">T</fork><fork cd="missing">T</fork>',
      'bad-directory',
      'directory missing does not exist',
    ],
    ['<fork next="NOWHERE">T</fork>', 'missing-state', 'NOWHERE'],
    ['<reset-workflow>/none</reset-workflow>', 'bad-workflow', '/none'],
  ])('%s', (text, kind, message) => {
    const stage = makeRun(script, { others });
    const failure = { kind, message: expect.stringContaining(message) };
    expect(stage.turn(text).slice(1)).toEqual([
      { type: 'agent-failed', at: expect.any(Number), agent: 'main', failure },
    ]);
    expect(stage.run.agents.size).toBe(1);
  });
});

describe('max_visits', () => {
  const loop = { START: state('max_visits: 2'), N: [], ASK: [] };

  test('an agent may enter a state max_visits times, by any transition', () => {
    const stage = makeRun(loop);
    stage.turn('<goto>START</goto>');
    expect(stage.turn('<goto>START</goto>').at(-1)).toMatchObject({
      type: 'agent-failed',
      failure: { kind: 'too-many-visits', message: expect.stringContaining('2 times') },
    });
  });

  test('a retry does not count as a visit', () => {
    const stage = makeRun(loop);
    stage.turn(failed('crashed'));
    stage.handle({ kind: 'time-came', at: stage.now + 60_000, agent: 'main' });
    stage.turn('<goto>START</goto>');
    expect(stage.agent().status.kind).toBe('ready');
  });

  test('each agent has its own count', () => {
    const stage = makeRun(loop);
    stage.turn('<fork next="START">START</fork>');
    stage.turn('<goto>START</goto>', 'main_start1');
    expect(stage.agent('main_start1').status.kind).toBe('ready');
  });

  test('an answer must not lead there either', () => {
    const stage = makeRun(loop);
    stage.turn('<goto>START</goto>');
    stage.turn('<ask next="START">?</ask>');
    const { status } = stage.agent();
    const askedAt = status.kind === 'asking' ? status.askedAt : 0;
    stage.handle({ kind: 'person-answered', at: stage.now, agent: 'main', askedAt, text: 'x' });
    expect(stage.agent().status).toMatchObject({
      kind: 'failed',
      failure: { kind: 'too-many-visits' },
    });
  });
});

describe('ceilings', () => {
  const flow = { START: [], N: [], R: [] };
  const forks = (count: number) => `${'<fork>N</fork>'.repeat(count)}<goto>R</goto>`;

  test('1,000 forks are allowed, and no more', () => {
    expect(makeRun(flow).turn(forks(1_000)).at(-1)).toMatchObject({ type: 'agent-moved' });
    const many = makeRun(flow).turn(forks(1_001));
    expect(many.map(({ type }) => type)).toEqual(['step-ended', 'agent-failed']);
    expect(many.at(-1)).toMatchObject({ failure: { kind: 'too-many-forks' } });
    expect(makeRun(flow).turn(forks(100_000)).at(-1)).toMatchObject({ type: 'agent-failed' });
  });

  test('an agent with a policy is reminded', () => {
    const policy = 'allowed_transitions: [{ tag: fork, target: N }, { tag: goto, target: R }]';
    expect(
      makeRun({ ...flow, START: state(policy) })
        .turn(forks(1_001))
        .at(-1),
    ).toMatchObject({
      type: 'agent-reminded',
      failure: { kind: 'too-many-forks' },
    });
  });

  test('nested forks fail before their names fill the journal', () => {
    const stage = makeRun(flow, { settings: { budgetUsd: 0 } });
    let id = 'main';
    for (let depth = 0; depth < 2_000; depth++) {
      const events = stage.turn('<fork next="R">N</fork>', id);
      const forked = events.find((event) => event.type === 'agent-forked');
      if (forked?.type !== 'agent-forked') break;
      id = forked.agent;
    }
    expect(stage.agent(id).status).toMatchObject({ failure: { kind: 'too-deep' } });
    expect(id.length).toBeLessThanOrEqual(4_000);
  });

  test('ended agents count', () => {
    const stage = makeRun(flow, { settings: { maxAgents: 3, budgetUsd: 0 } });
    stage.turn(forks(1));
    stage.turn('<result>x</result>', 'main_n1');
    stage.turn(forks(1));
    expect(stage.turn(forks(1)).at(-1)).toMatchObject({
      type: 'agent-failed',
      failure: { kind: 'too-many-agents', message: expect.stringContaining('at most 3 agents') },
    });
  });

  test.each([undefined, 2])('calls nest no deeper than the ceiling (%s)', (maxDepth) => {
    const settings = { ...(maxDepth !== undefined && { maxDepth }), budgetUsd: 0 };
    const stage = makeRun(flow, { settings });
    for (const _ of Array(maxDepth ?? 200)) stage.turn('<call return="R">START</call>');
    expect(stage.agent().stack).toHaveLength(maxDepth ?? 200);
    expect(stage.turn('<function return="R">N</function>').at(-1)).toMatchObject({
      type: 'agent-failed',
      failure: { kind: 'too-deep' },
    });
  });
});
