import { expect, test } from 'vitest';
import {
  failed,
  interrupted,
  makeRun,
  type Stage,
  type StageOptions,
  state,
} from '../../test/make-run.ts';
import { rewound } from '../../test/rewound-run.ts';
import type { RewindRequest } from '../model/rewind-request.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { type Script, scriptedWorkflow } from '../testing.ts';
import { playAgain } from './play-again.ts';

/** A run that is made by hand, with what its agents say. */
function recording(script: Script, options?: StageOptions) {
  const stage = makeRun(script, options);
  const answers = new Map<string, string>();
  const key = (agent: string) => `${agent}#${stage.agent(agent).steps}`;
  return {
    stage,
    answers,
    says(text: string, agent = 'main') {
      stage.start(agent);
      answers.set(key(agent), text);
      return stage.end(text, agent);
    },
  };
}

type Recording = ReturnType<typeof recording>;

/** Plays the run again on a workflow whose states have other texts. */
async function again(
  { stage, answers }: Pick<Recording, 'stage' | 'answers'>,
  changed: Script | Workflow,
) {
  return playAgain(
    stage.events.map((event, at) => ({ ...event, seq: at + 1 })),
    {
      workflow: isWorkflow(changed) ? changed : scriptedWorkflow(changed, '/flow'),
      library: {
        get: () => undefined,
        load: async (path) => {
          throw new UserError('no-workflow', `There is no workflow at ${path}.`, 'Name another.');
        },
      },
      answer: async ({ agent, step }) => answers.get(`${agent}#${step}`),
      told: async () => undefined,
    },
  );
}

const isWorkflow = (one: Script | Workflow): one is Workflow => 'ref' in one && 'states' in one;

const ONE = '[{tag: goto, target: B}, {tag: result}]';
const only = (...tags: readonly string[]) =>
  state(`allowed_transitions: [${tags.map((tag) => `{${tag}}`).join(', ')}]`);
const GOTO_B = 'tag: goto, target: B';
const RESULT = 'tag: result';

const SIMPLE: Script = { START: state(`allowed_transitions: ${ONE}`), B: only(RESULT) };

function simple(): Recording {
  const run = recording(SIMPLE);
  run.says('<goto>B</goto>');
  run.says('<result>done</result>');
  run.stage.idle();
  return run;
}

const places = ({ elsewhere }: Awaited<ReturnType<typeof again>>) =>
  elsewhere.map(({ agent, step, cause, paths }) => [
    `${agent}:${step}`,
    cause,
    paths?.was,
    paths?.now,
  ]);

test('the same workflow leads to the same places', async () => {
  expect(await again(simple(), SIMPLE)).toEqual({
    elsewhere: [],
    open: [],
    notKept: [],
    refused: [],
  });
});

test.each([
  ['an entry less', { START: only(RESULT) }, ['main:1', 'policy', 'B.md', 'a reminder']],
  [
    'a missing target',
    { START: SIMPLE.START, B: undefined },
    ['main:1', 'target', 'B.md', 'a reminder'],
  ],
  [
    'no policy and no target',
    { START: state(''), B: undefined },
    ['main:1', 'target', 'B.md', 'a failure (missing-state)'],
  ],
  ['a limit of visits', { B: state('max_visits: 1') }, undefined],
  [
    'another payload',
    { B: only('tag: result, payload: X') },
    ['main:2', 'policy', 'the end: done', 'a reminder'],
  ],
  [
    'a schema',
    { B: only('tag: result, schema: {type: object}') },
    ['main:2', 'policy', 'the end: done', 'a reminder'],
  ],
  [
    'a forced entry',
    { B: state('allowed_transitions: [{tag: result, payload: X}]\nforce_implicit: true') },
    ['main:2', 'policy', 'the end: done', 'the end: X'],
  ],
  [
    'an evaluator',
    {
      START: state(
        `allowed_transitions: ${ONE}\nevaluators: [{visits: 1, then: {tag: result, payload: no}}]`,
      ),
    },
    ['main:1', 'policy', 'B.md', 'the end: no'],
  ],
  ['another order of entries', { START: only(RESULT, GOTO_B) }, undefined],
])('%s', async (_, change, expected) => {
  const changed: Script = Object.fromEntries(
    Object.entries({ ...SIMPLE, ...change }).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, text]],
    ),
  );
  const found = await again(simple(), changed);
  expect(places(found)).toEqual(expected ? [expected] : []);
});

test('a refusal comes with the reminder that the agent would get', async () => {
  const { elsewhere } = await again(simple(), { ...SIMPLE, START: only(RESULT) });
  expect(elsewhere[0]).toMatchObject({
    message: '<goto>B</goto> is not allowed in this state.',
    reminder: expect.stringContaining('End your next message with this tag'),
  });
});

test('an agent leaves its path once, but all refused answers are known', async () => {
  const found = await again(simple(), { START: only(RESULT), B: only('tag: result, payload: X') });
  expect(places(found)).toHaveLength(1);
  expect(found.refused.map(({ step, state }) => [step, state])).toEqual([
    [1, 'START.md'],
    [2, 'B.md'],
  ]);
});

test('an answer that was refused may be taken now', async () => {
  const run = recording({ ...SIMPLE, START: only(RESULT) });
  run.says('<goto>B</goto>');
  run.says('<result>done</result>');
  expect(places(await again(run, SIMPLE))).toEqual([['main:1', 'policy', 'a reminder', 'B.md']]);
});

test('a refusal for another reason is a reminder as well, until the reminders are used up', async () => {
  const run = recording({ START: only(RESULT) });
  for (let time = 0; time < 3; time++) run.says('nothing');
  run.says('<result>done</result>');
  const strict: Script = { START: only('tag: result, payload: X', 'tag: goto, target: START') };
  expect(places(await again(run, strict))).toEqual([
    ['main:4', 'policy', 'the end: done', 'a failure (forbidden-transition)'],
  ]);
});

const FORKING: Script = {
  START: only('tag: fork, target: W', 'tag: join, target: END'),
  W: only(RESULT, 'tag: fork, target: END, next: W'),
  END: only(RESULT),
};

function forking(): Recording {
  const run = recording(FORKING);
  run.says('<fork>W</fork><fork>W</fork><join>END</join>');
  run.says('<fork next="W">END</fork>', 'main_w1');
  run.says('<result>2</result>', 'main_w2');
  run.says('<result>3</result>', 'main_w1_end1');
  run.says('<result>1</result>', 'main_w1');
  run.says('<result>all</result>');
  run.stage.idle();
  return run;
}

test('agents leave their paths separately, and later children of such an agent do not count', async () => {
  expect(places(await again(forking(), FORKING))).toEqual([]);
  const strict = { ...FORKING, W: only(RESULT), END: only('tag: result, payload: all') };
  expect(places(await again(forking(), strict))).toEqual([
    ['main_w1:1', 'policy', 'forks of END.md (1), then W.md', 'a reminder'],
  ]);
});

test('a limit of visits counts when a wait is over', async () => {
  const asking = (limit: number): Script => ({
    START: state(
      `max_visits: ${limit}\nallowed_transitions: [{tag: ask, next: START}, {tag: result}]`,
    ),
  });
  const run = (limit: number) => {
    const recorded = recording(asking(limit));
    recorded.says('<ask next="START">Which?</ask>');
    answer(recorded.stage, 'left');
    return recorded;
  };
  expect(places(await again(run(2), asking(2)))).toEqual([]);
  expect(places(await again(run(2), asking(1)))).toEqual([
    ['main:1', 'policy', 'START.md', 'a failure (too-many-visits)'],
  ]);
  expect(places(await again(run(1), asking(2)))).toEqual([
    ['main:1', 'policy', 'a failure (too-many-visits)', 'START.md'],
  ]);
});

function answer(stage: Stage, text: string): void {
  const { status } = stage.agent();
  if (status.kind !== 'asking') throw new Error('It does not ask.');
  const { askedAt } = status;
  stage.handle({ kind: 'person-answered', at: stage.now, agent: 'main', askedAt, text });
}

test('a question: its answer, its deadline, and the state that follows', async () => {
  const asking: Script = {
    START: only('tag: ask, next: B, timeout: 1h, timeout_next: LATE'),
    B: only(RESULT),
    LATE: only(RESULT),
  };
  const ask = '<ask next="B" timeout="1h" timeout_next="LATE">Which?</ask>';
  const reply = recording(asking);
  reply.says(ask);
  answer(reply.stage, 'left');
  reply.says('<result>left</result>');
  const late = recording(asking);
  late.says(ask);
  late.stage.handle({ kind: 'time-came', at: late.stage.now + 3_600_000, agent: 'main' });
  late.says('<result>late</result>');
  for (const run of [reply, late]) expect(places(await again(run, asking))).toEqual([]);
  const { LATE: moved, ...others } = asking;
  const scripts: Script = { ...others, 'LATE.sh': moved ?? [] };
  expect(places(await again(reply, scripts))).toEqual([]);
  expect(places(await again(late, scripts))).toEqual([['main:1', 'target', 'LATE.md', 'LATE.sh']]);
});

test('failures, retries, interruptions, stops and resumes are not compared', async () => {
  const run = recording(SIMPLE);
  const { stage } = run;
  stage.turn(failed('overloaded'));
  stage.handle({ kind: 'time-came', at: stage.now + 100_000, agent: 'main' });
  stage.start();
  stage.stop('now');
  stage.end(interrupted());
  stage.idle();
  stage.resume();
  run.says('<goto>B</goto>');
  run.says('<result>done</result>');
  stage.idle();
  expect(places(await again(run, SIMPLE))).toEqual([]);
  const found = await again(run, { ...SIMPLE, START: only(RESULT) });
  expect(places(found)).toEqual([['main:3', 'policy', 'B.md', 'a reminder']]);
});

test('a step that a rewind left behind does not count, unless the rewind is undone', async () => {
  const run = recording({ ...SIMPLE, START: state('') });
  const { stage } = run;
  const rewind = (request: RewindRequest) => {
    const { planned, events, ...back } = rewound(stage, request);
    if (!planned.ok) throw new Error('The rewind was refused.');
    stage.events.splice(0, stage.events.length, ...events);
    Object.assign(stage, { run: back.run, now: back.now });
  };
  run.says('<goto>B</goto>');
  run.says('<result>done</result>');
  stage.idle();
  rewind({ kind: 'to', agent: 'main', step: 1 });
  const strict = { ...SIMPLE, START: only(RESULT) };
  expect(places(await again(run, strict))).toEqual([]);
  rewind({ kind: 'undo' });
  expect(places(await again(run, strict))).toEqual([['main:1', 'policy', 'B.md', 'a reminder']]);
});

test('an answer that is not kept', async () => {
  const run = forking();
  run.answers.clear();
  const { elsewhere, notKept } = await again(run, FORKING);
  expect(elsewhere).toEqual([]);
  // Single tags are in the journal. Forks have parts that are not.
  expect(notKept).toEqual([
    { agent: 'main', step: 1, state: 'START.md' },
    { agent: 'main_w1', step: 1, state: 'W.md' },
  ]);
  const strict = { ...FORKING, END: only('tag: result, payload: 3') };
  expect(places(await again(run, strict))).toEqual([
    ['main:2', 'policy', 'the end: all', 'a reminder'],
  ]);
});

test('a check or a judge without a recorded outcome', async () => {
  const checked = (more: string) => ({
    ...SIMPLE,
    START: state(`allowed_transitions: ${ONE}\n${more}`),
  });
  const open = async (more: string) => {
    const found = await again(simple(), checked(more));
    expect(places(found)).toEqual([]);
    return found.open.map(({ cause, message }) => [cause, message]);
  };
  expect(await open('ensures: [{run: make}]')).toEqual([
    ['policy', 'The outcome of the check `make` is not known.'],
  ]);
  expect(
    await open('evaluators: [{prompt: B, expect: YES, then: {tag: result, payload: no}}]'),
  ).toEqual([['policy', 'The verdict of B.md is not known.']]);
  expect(await open('ensures: [{run: make, on: [result]}]')).toEqual([]);
  // Whatever the check says, the run does not end here.
  const evaluated = checked('evaluators: [{visits: 1, then: {tag: result, payload: no}}]');
  const run = recording(evaluated);
  run.says('<goto>B</goto>');
  const found = await again(run, checked('ensures: [{run: make}]'));
  expect(places(found)).toEqual([['main:1', 'policy', 'the end: no', 'B.md']]);
});

test('a journal without a beginning cannot be played', async () => {
  const stage: Stage = { ...makeRun(SIMPLE), events: [] };
  await expect(again({ stage, answers: new Map() }, SIMPLE)).rejects.toThrow('no beginning');
});

test('a workflow that now needs an input, or begins elsewhere', async () => {
  const needs = { ...SIMPLE, 'workflow.yaml': { text: 'input: { required: true }', answers: [] } };
  expect(places(await again(simple(), needs))).toEqual([
    ['main:0', 'policy', 'START.md', 'no start'],
  ]);
  const { START, ...others } = SIMPLE;
  const renamed: Script = { ...others, '1_START': START ?? [] };
  expect(places(await again(simple(), renamed))).toEqual([
    ['main:0', 'target', 'START.md', '1_START.md'],
  ]);
});

test('each step is read once, however long the run is', async () => {
  const run = recording({ START: state('') });
  for (let time = 0; time < 500; time++) run.says('<goto>START</goto>');
  const read: string[] = [];
  const played = await playAgain(
    run.stage.events.map((event, at) => ({ ...event, seq: at + 1 })),
    {
      workflow: scriptedWorkflow({ START: state('') }, '/flow'),
      library: {
        get: () => undefined,
        load: async () => scriptedWorkflow({ START: state('') }, '/flow'),
      },
      answer: async ({ agent, step }) => {
        read.push(`${agent}#${step}`);
        return '<goto>START</goto>';
      },
      told: async () => undefined,
    },
  );
  expect(played.elsewhere).toEqual([]);
  expect(new Set(read).size).toBe(500);
  expect(read).toHaveLength(500);
});

test('a change is named once for each agent, although a loop meets it again and again', async () => {
  const loop = (text: string): Script => ({ 'START.sh': { text, answers: [] } });
  const files = (hash: string) => ({ '/flow': { 'START.sh': hash } });
  const run = recording(loop('before'), { files: files('1') });
  for (let time = 0; time < 5; time++) run.says('<goto>START</goto>');
  const now = { ...scriptedWorkflow(loop('after'), '/flow'), files: files('2')['/flow'] };
  expect((await again(run, now)).open).toMatchObject([{ cause: 'script', step: 1 }]);
});

test('a variant of a run does not begin at the entry', async () => {
  const { stage, answers } = simple();
  const [started, ...events] = stage.events;
  if (started?.type !== 'run-started') throw new Error('The run has no beginning.');
  const beginning = { agents: [], ended: [], forkCounters: {} };
  const variant = { ...stage, events: [{ ...started, beginning }, ...events] };
  const needs = { ...SIMPLE, 'workflow.yaml': { text: 'input: { required: true }', answers: [] } };
  expect(places(await again({ stage: variant, answers }, needs))).toEqual([]);
});
