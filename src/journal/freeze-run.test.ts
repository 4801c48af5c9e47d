import { expect, test } from 'vitest';
import type { Stage } from '../../test/make-run.ts';
import { failed, makeRun, state } from '../../test/make-run.ts';
import type { StepReport } from '../model/input.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import { freeze } from './freeze-run.ts';
import { thaw } from './thaw-run.ts';

const judged = 'evaluators: [{ prompt: N, expect: "YES", then: { tag: goto, target: N } }]';
const reminded = 'allowed_transitions: [{ tag: goto, target: N }, { tag: result }]';
const flow = { START: [], N: [], 'S.sh': [], JUDGED: state(judged), REMINDED: state(reminded) };
const roundTrip = (stage: Stage) => thaw(JSON.parse(JSON.stringify(freeze(stage.run))));

test('the state file has the documented schema', () => {
  const stage = makeRun(flow, { metadata: { issue: '195' }, settings: { maxIterations: 9 } });
  stage.turn('<fork next="N" cd="d" item="a">N</fork>', 'main', 0.5);
  stage.turn('<call return="N">START</call>');
  expect(freeze(stage.run)).toMatchObject({
    workflow_id: 'flow-00000000',
    scope_dir: '/flow',
    started_at: '1970-01-01T00:16:40.000Z',
    iteration_count: 2,
    max_iterations: 9,
    total_cost_usd: 0.5,
    budget_usd: 10,
    fork_counters: { main: 1 },
    metadata: { issue: '195' },
  });
  const agents = new Map(freeze(stage.run).agents.map((agent) => [agent.id, agent]));
  expect(agents.get('main')).toMatchObject({
    current_state: 'START.md',
    session_id: null,
    branch_of: 's1',
    stack: [{ session: 's1', state: 'N.md', scope_dir: '/flow', cwd: '/project' }],
    cwd: '/project',
    fork_attributes: {},
  });
  expect(agents.get('main_n1')).toMatchObject({
    current_state: 'N.md',
    session_id: null,
    stack: [],
    cwd: '/project/d',
    fork_attributes: { item: 'a' },
  });
});

test.each([
  ['/flows/review', '/flows/review'],
  ['/flows/review/START.md', '/flows/review'],
  ['/flows/review.zip', '/flows/review.zip'],
  ['/flows/review.zip/CHECK.sh', '/flows/review.zip'],
  ['/flows/review.yaml', '/flows/review.yaml'],
])('the scope of %s is %s, for the run, its agents and their callers', (workflow, scope) => {
  const { run } = makeRun(flow);
  const stage = makeRun(flow);
  stage.turn('<call return="N">START</call>');
  const main = stage.agent();
  const agent = { ...main, workflow, stack: main.stack.map((frame) => ({ ...frame, workflow })) };
  const moved = { ...run, workflow, agents: PersistentMap.from([['main', agent]]) };
  const frozen = freeze(moved);
  expect([frozen, ...frozen.agents, ...(frozen.agents[0]?.stack ?? [])]).toMatchObject(
    Array.from({ length: 3 }, () => ({ scope_dir: scope, workflow })),
  );
  expect(thaw(JSON.parse(JSON.stringify(frozen)))).toMatchObject({ workflow });
});

test.each<[string, readonly (string | StepReport)[]]>([
  ['ready', ['<goto input="v">N</goto>']],
  ['with a branch to open', ['<call return="N">S</call>']],
  ['with a model for one state', ['<function return="N" model="haiku" effort="low">N</function>']],
  ['asking', ['<ask next="N">?</ask>']],
  ['asking with a deadline', ['<ask next="N" timeout="1h" timeout_next="S">?</ask>']],
  ['waiting', [failed('crashed', 0.1)]],
  ['failed', [failed('no-credit')]],
  ['limited', [failed('usage-limit', 0, { resetsAt: 10 ** 9 })]],
  ['ended', ['<result>x</result>']],
  ['judged', ['<goto>JUDGED</goto>', '<fork next="N" item="a">N</fork>']],
  ['judged, with a reminder', ['<goto>JUDGED</goto>', '<goto>N</goto>', 'What?']],
  ['reminded', ['<goto>REMINDED</goto>', 'What?']],
])('nothing is lost of a run whose agent is %s', (_, turns) => {
  const stage = makeRun(flow);
  for (const turn of turns) stage.turn(turn);
  expect(roundTrip(stage)).toEqual(stage.run);
  if (stage.start().length > 0) expect(roundTrip(stage)).toEqual(stage.run);
});

test.each(['drain', 'now'] as const)('nothing of a stopping run is lost: %s', (how) => {
  const stage = makeRun(flow);
  stage.start();
  stage.stop(how);
  expect(roundTrip(stage)).toEqual(stage.run);
});

test('a time after the year 9999 is read back', () => {
  const stage = makeRun(flow);
  stage.run = { ...stage.run, updatedAt: 8.64e15 };
  expect(roundTrip(stage)).toEqual(stage.run);
});

test.each([
  ['nothing', null],
  ['something else', { agents: [] }],
  ['a broken date', { ...freeze(makeRun(flow).run), started_at: 'soon' }],
  ['an agent without a state', { ...freeze(makeRun(flow).run), agents: [{ id: 'main' }] }],
])('%s is not the state of a run', (_, json) => expect(thaw(json)).toBeUndefined());
