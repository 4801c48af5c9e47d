import { describe, expect, test } from 'vitest';
import { answered, failed, makeRun, state, types } from '../../test/make-run.ts';

const two = 'allowed_transitions: [{ tag: goto, target: N }, { tag: result }]';
const one = 'allowed_transitions: [{ tag: goto, target: N }]';
const others = { N: [], X: [], J: [], R: [] };

const lastEvent = (frontMatter: string, text: string) => {
  const stage = makeRun({ START: state(frontMatter), ...others });
  return stage.turn(text).at(-1);
};

describe('reminders', () => {
  test.each([
    ['no tag', 'Done.', 'no-transition'],
    ['two tags', '<goto>N</goto><result>x</result>', 'several-transitions'],
    ['a bad tag', '<goto to="N">N</goto>', 'bad-transition'],
    ['a forbidden tag', '<goto>X</goto>', 'forbidden-transition'],
  ])(
    '%s gets a reminder in the same session, with the fault and the allowed tags',
    (_, text, kind) => {
      const stage = makeRun({ START: state(two), ...others });
      const reminded = stage.turn(text).at(-1);
      expect(reminded).toMatchObject({ type: 'agent-reminded', number: 1, failure: { kind } });
      expect(reminded?.type === 'agent-reminded' && reminded.text).toContain(
        '    <goto>N</goto>\n    <result>',
      );
      expect(stage.start()).toMatchObject([
        { task: 'reminder', attempt: 1, session: { use: 'continue', id: 's1' } },
      ]);
      expect(stage.end('<goto>N</goto>').at(-1)).toMatchObject({
        type: 'agent-moved',
        state: 'N.md',
      });
    },
  );

  test.each([
    [
      '<reset cd="missing">X</reset>',
      'allowed_transitions: [{ tag: reset, target: X }, { tag: result }]',
      'bad-directory',
    ],
    [
      '<goto>NOWHERE</goto>',
      'allowed_transitions: [{ tag: goto, target: NOWHERE }, { tag: result }]',
      'missing-state',
    ],
  ])('a transition that cannot be followed gets a reminder: %s', (text, policy, kind) => {
    expect(lastEvent(policy, text)).toMatchObject({ type: 'agent-reminded', failure: { kind } });
  });

  test('three reminders, and then the agent fails', () => {
    const stage = makeRun({ START: state(two), ...others });
    const last = [1, 2, 3, 4].map(() => stage.turn('Done.').at(-1)?.type);
    expect(last).toEqual(['agent-reminded', 'agent-reminded', 'agent-reminded', 'agent-failed']);
    stage.resume();
    expect(stage.start()).toMatchObject([{ task: 'state' }]);
    expect(stage.end('Done.').at(-1)).toMatchObject({ type: 'agent-reminded', number: 1 });
  });

  test('without a policy the agent fails immediately', () => {
    expect(lastEvent('timeout: 5', 'Done.')).toMatchObject({
      type: 'agent-failed',
      failure: { kind: 'no-transition' },
    });
  });

  test.each([
    ['no tag', 'Done.', 'no-transition'],
    ['two tags', '<goto>N</goto> `<goto>N</goto>`', 'several-transitions'],
  ])('a script with %s fails immediately', (_, text, kind) => {
    const stage = makeRun({ 'START.sh': [], ...others });
    expect(stage.turn(text).at(-1)).toMatchObject({ type: 'agent-failed', failure: { kind } });
  });

  test('a reminder that crashed is retried as a reminder', () => {
    const stage = makeRun({ START: state(two), ...others });
    stage.turn('Done.');
    stage.turn(failed('crashed'));
    stage.handle({ kind: 'time-came', at: stage.now + 60_000, agent: 'main' });
    expect(stage.start()).toMatchObject([{ task: 'reminder', attempt: 2 }]);
  });
});

test('a move is followed once, also where evaluators have a say', () => {
  const stage = makeRun({
    START: state('evaluators:\n  - { visits: 9, then: { tag: goto, target: START } }'),
  });
  stage.start();
  const report = answered(stage, stage.agent(), '<reset cd="a">START</reset>');
  if (report.kind !== 'answered') throw new Error('It answered.');
  let looks = 0;
  const directories = new Map(report.facts.directories);
  const look = directories.get.bind(directories);
  directories.get = (path) => {
    looks += 1;
    return look(path);
  };
  stage.end({ ...report, facts: { ...report.facts, directories } });
  expect(stage.agent()).toMatchObject({ cwd: '/project/a', visits: { '/flow#START.md': 2 } });
  // Once to see whether the agent may choose it, and once to follow it.
  expect(looks).toBe(2);
});

describe('implicit', () => {
  const forced = `${one}\nforce_implicit: true`;
  test.each([
    ['the only entry need not be written', one, 'Done.', 'agent-moved'],
    ['it may be written', one, '<goto>N.md</goto>', 'agent-moved'],
    ['another tag is refused', one, '<goto>X</goto>', 'agent-reminded'],
    ['a tag that cannot be read is refused', one, '<goto to=x>N</goto>', 'agent-reminded'],
    [
      'a bare result is never implied',
      'allowed_transitions: [{ tag: result }]',
      'Done.',
      'agent-reminded',
    ],
    [
      'a result with its payload is implied',
      'allowed_transitions: [{ tag: result, payload: ok }]',
      'Done.',
      'agent-ended',
    ],
    [
      'a bare ask is not implied',
      'allowed_transitions: [{ tag: ask, next: N }]',
      'Done.',
      'agent-reminded',
    ],
    ['neither of two entries is implied', two, 'Done.', 'agent-reminded'],
    ['forced: no tag', forced, 'Done.', 'agent-moved'],
    ['forced: another tag is not read', forced, '<result>x</result>', 'agent-moved'],
    [
      'forced: two other tags are not read either',
      forced,
      '<goto>X</goto><goto>Y</goto>',
      'agent-moved',
    ],
  ])('%s', (_, policy, text, type) => expect(lastEvent(policy, text)?.type).toBe(type));
});

describe('evaluators', () => {
  const judge = 'evaluators: [{ prompt: J, expect: "YES", then: { tag: goto, target: X } }]';

  test('an override has its own event, which names the replaced tags', () => {
    const stage = makeRun({
      START: state('evaluators: [{ matches: "(?i)unable", then: { tag: goto, target: X } }]'),
      ...others,
    });
    expect(stage.turn('Unable. <goto>N</goto>').slice(1)).toMatchObject([
      {
        type: 'transition-overridden',
        evaluator: 0,
        by: 'matches',
        written: [{ body: 'N' }],
        taken: { body: 'X' },
      },
      { type: 'agent-moved', state: 'X.md' },
    ]);
  });

  test.each([
    ['visits: 2', 2],
    ['cost: 0.3', 3],
  ])('%s fires at turn %i and counts all turns of the agent', (test, turn) => {
    const stage = makeRun({
      START: state(`evaluators: [{ ${test}, then: { tag: result, payload: over } }]`),
    });
    for (let n = 1; n < turn; n++) {
      expect(stage.turn('<goto>START</goto>', 'main', 0.1).at(-1)?.type).toBe('agent-moved');
    }
    expect(stage.turn('<goto>START</goto>', 'main', 0.1).at(-1)).toMatchObject({
      type: 'agent-ended',
      result: 'over',
    });
  });

  test('an evaluator leads out of a loop that max_visits would break', () => {
    const stage = makeRun({
      START: state('max_visits: 1\nevaluators: [{ visits: 1, then: { tag: goto, target: X } }]'),
      ...others,
    });
    expect(stage.turn('<goto>START</goto>').at(-1)).toMatchObject({
      type: 'agent-moved',
      state: 'X.md',
    });
  });

  test.each([
    ['YES', 'N.md'],
    [' YES\n', 'N.md'],
    ['NO', 'X.md'],
    ['yes', 'X.md'],
  ])('a judge that answers %j sends the agent to %s', (verdict, next) => {
    const stage = makeRun({ START: state(judge), ...others });
    expect(types(stage.turn('<goto>N</goto>'))).toEqual(['step-ended', 'judge-called']);
    expect(stage.start()).toMatchObject([
      { task: 'judge', state: 'J.md', session: { use: 'fresh', id: 's2' } },
    ]);
    stage.end(`<result>${verdict}</result>`, 'main', 0.5);
    expect(stage.agent()).toMatchObject({
      state: next,
      session: { kind: 'open', id: 's1', executor: 'scripted' },
      costUsd: 0.5,
    });
    expect(stage.run.totalCostUsd).toBe(0.5);
  });

  test('a judge without a result is reminded in its own session, and then the agent fails', () => {
    const stage = makeRun({ START: state(judge), ...others });
    stage.turn('<goto>N</goto>');
    expect(stage.turn('<goto>X</goto>').at(-1)).toMatchObject({
      type: 'agent-reminded',
      number: 1,
      session: 's2',
    });
    expect(stage.start()).toMatchObject([
      { task: 'judge', session: { use: 'continue', id: 's2' } },
    ]);
    stage.end('What?');
    stage.turn('What?');
    expect(stage.turn('What?').at(-1)?.type).toBe('agent-failed');
    stage.resume();
    expect(stage.start()).toMatchObject([{ task: 'judge', session: { use: 'fresh' } }]);
    expect(stage.end('What?').at(-1)).toMatchObject({ type: 'agent-reminded', number: 1 });
    stage.turn('<result>YES</result>');
    expect(stage.agent()).toMatchObject({ state: 'N.md', session: { id: 's1' } });
  });

  test('after a judge that agrees, only the later evaluators are asked', () => {
    const stage = makeRun({
      START: state(`evaluators:
  - { cost: 0.2, then: { tag: goto, target: X } }
  - { prompt: J, expect: "YES", then: { tag: goto, target: X } }
  - { visits: 1, then: { tag: goto, target: R } }`),
      ...others,
    });
    stage.turn('<goto>N</goto>', 'main', 0.1);
    const [, override] = stage.turn('<result>YES</result>', 'main', 0.1);
    expect(override).toMatchObject({ type: 'transition-overridden', evaluator: 2, by: 'visits' });
    expect(stage.agent().state).toBe('R.md');
  });

  test('the transition of an evaluator is used as written, even if the policy forbids it', () => {
    const policy = `${one}\nevaluators: [{ visits: 1, then: { tag: fork, target: X, next: R, item: a } }]`;
    const stage = makeRun({ START: state(policy), ...others });
    expect(types(stage.turn('Done.'))).toEqual([
      'step-ended',
      'transition-overridden',
      'agent-forked',
      'agent-moved',
    ]);
  });
});

describe('variables that an agent chooses', () => {
  const open = 'allowed_transitions: [{ tag: fork, target: N, next: R }]';
  const fork = (attribute: string) => `<fork next="R" ${attribute}="x">N</fork>`;

  test.each(['TAR_OPTIONS', 'Item', 'PATH', 'state'])('%s gets a reminder', (name) => {
    expect(lastEvent(open, fork(name))).toMatchObject({
      type: 'agent-reminded',
      failure: { kind: 'bad-transition', message: expect.stringContaining(`"${name}"`) },
    });
  });

  test.each(['path', 'env', 'npm_config_script_shell', 'makeflags', 'in_parent', 'in_Parent'])(
    '%s reaches templates, and no program',
    (name) => {
      const stage = makeRun({ START: state(open), ...others });
      const forked = stage.turn(`<fork next="R" ${name}="x" item="y">N</fork>`)[1];
      expect(forked).toMatchObject({
        type: 'agent-forked',
        variables: { [name]: 'x', item: 'y' },
        withheld: [name],
      });
      expect(stage.agent('main_n1')).toMatchObject({ withheld: [name] });
    },
  );

  test('the same after a judge', () => {
    const judge = 'evaluators: [{ prompt: J, expect: "YES", then: { tag: goto, target: X } }]';
    const stage = makeRun({ START: state(judge), ...others });
    stage.turn(fork('path'));
    const events = stage.turn('<result>YES</result>');
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'agent-forked', withheld: ['path'] }),
    );
  });

  test('without a policy the agent fails', () => {
    const stage = makeRun({ START: [], ...others });
    expect(stage.turn(fork('TAR_OPTIONS')).at(-1)).toMatchObject({ type: 'agent-failed' });
  });

  test('a variable that the policy names is allowed', () => {
    const named = 'allowed_transitions: [{ tag: fork, target: N, next: R, ITEM: x }]';
    expect(lastEvent(named, fork('ITEM'))).toMatchObject({ type: 'agent-moved', state: 'R.md' });
    const forks = '<fork ITEM="x">N</fork><fork next="R" ITEM="x">N</fork>';
    expect(lastEvent(named, forks)).toMatchObject({ type: 'agent-moved', state: 'R.md' });
  });

  test('an evaluator may set every variable that an author may set', () => {
    const policy = `${one}\nevaluators: [{ visits: 1, then: { tag: fork, target: X, next: R, ITEM: a } }]`;
    expect(lastEvent(policy, '<goto>N</goto>')).toMatchObject({
      type: 'agent-moved',
      state: 'R.md',
    });
  });

  test('a script may too, except variables that change how programs run', () => {
    const script = (attribute: string) =>
      makeRun({ 'START.sh': [], ...others })
        .turn(fork(attribute))
        .at(-1);
    expect(script('ITEM')).toMatchObject({ type: 'agent-moved' });
    expect(script('in_parent')).toMatchObject({ type: 'agent-moved' });
    expect(script('TAR_OPTIONS')).toMatchObject({ type: 'agent-failed' });
  });
});

describe('paths that an agent chooses', () => {
  const flows = { '/flow/x': { START: [] }, written: { START: [] }, outside: { START: [] } };
  const answer = (text: string, start: Parameters<typeof makeRun>[0][string] = []) =>
    makeRun({ START: start, ...others }, { others: flows })
      .turn(text)
      .at(-1);

  test.each([
    ['a directory of the project', '<reset cd="src">N</reset>'],
    ['a workflow of the project', '<reset-workflow>/flow/x</reset-workflow>'],
    ['its own workflow', '<reset-workflow>/flow</reset-workflow>'],
  ])('%s is allowed', (_, text) => {
    expect(answer(text)).toMatchObject({ type: 'agent-moved' });
  });

  const BAD: readonly [string, string, string, string][] = [
    [
      'bad-directory',
      '<reset cd="/etc">N</reset>',
      'tag: reset, target: N, cd: /etc',
      'outside the project',
    ],
    [
      'bad-directory',
      '<fork next="R" cd="/etc">N</fork>',
      'tag: fork, target: N, next: R, cd: /etc',
      'outside',
    ],
    [
      'bad-directory',
      '<function-workflow return="R" cd="/etc">/flow/x</function-workflow>',
      'tag: function-workflow, path: /flow/x, return: R, cd: /etc',
      'outside',
    ],
    ...['call', 'function', 'fork', 'reset'].flatMap((kind): [string, string, string, string][] => {
      const tag = `${kind}-workflow`;
      const back = { call: 'return', function: 'return', fork: 'next' }[kind];
      const rest = back ? ` ${back}="R"` : '';
      const entry = `tag: ${tag}${back ? `, ${back}: R` : ''}`;
      return [
        ['bad-workflow', `<${tag}${rest}>outside</${tag}>`, `${entry}, path: outside`, 'outside'],
        [
          'bad-workflow',
          `<${tag}${rest}> written </${tag}>`,
          `${entry}, path: written`,
          'changed after',
        ],
      ];
    }),
  ];

  test.each(BAD)('%s: %s is refused unless the policy has {%s}', (kind, text, entry, why) => {
    const failure = { kind, message: expect.stringContaining(why) };
    expect(answer(text)).toMatchObject({ type: 'agent-failed', failure });
    if (entry.includes('cd:')) {
      const open = state(`allowed_transitions: [{ ${entry.replace(/, cd.*/, '')} }]`);
      expect(answer(text, open)).toMatchObject({ type: 'agent-reminded', failure });
    }
    expect(answer(text, state(`allowed_transitions: [{ ${entry} }]`))).toMatchObject({
      type: 'agent-moved',
    });
  });

  test.each(BAD)('%s: %s is allowed for a script', (_, text) => {
    const stage = makeRun({ 'START.sh': [], ...others }, { others: flows });
    expect(stage.turn(text).at(-1)).toMatchObject({ type: 'agent-moved' });
  });

  test('a state whose policy has become an error fails the agent, with the place and the remedy', () => {
    const before = makeRun({
      START: state('allowed_transitions: [{ tag: ask, next: N }]'),
      ...others,
    });
    before.start();
    const after = makeRun({ START: state('allowed_transitions: [{ tag: ask }]'), ...others });
    after.run = before.run;
    const failure = {
      kind: 'broken-state',
      message: expect.stringMatching(/START\.md:2:23: <ask>: the attribute next is missing\. Add/),
    };
    const answered = after.end('<ask next="R" timeout="1s" timeout_next="N">?</ask>').at(-1);
    expect(answered).toMatchObject({ type: 'agent-failed', failure });
    after.resume();
    expect(after.start().at(-1)).toMatchObject({ type: 'agent-failed', failure });
  });

  test('tags that a judge let pass must still be allowed', () => {
    const judge = 'evaluators: [{ prompt: J, expect: "YES", then: { tag: goto, target: X } }]';
    const start = (target: string) =>
      state(`${judge}\nallowed_transitions: [{ tag: goto, target: ${target} }]`);
    const stage = makeRun({ START: start('N'), ...others });
    stage.turn('<goto>N</goto>');
    const edited = makeRun({ START: start('R'), ...others });
    edited.run = stage.run;
    expect(edited.turn('<result>YES</result>').at(-1)).toMatchObject({
      type: 'agent-failed',
      failure: { kind: 'forbidden-transition' },
    });
  });

  test('tags that a judge let pass are checked again', () => {
    const policy = 'evaluators: [{ prompt: J, expect: "YES", then: { tag: goto, target: X } }]';
    const stage = makeRun({ START: state(policy), ...others }, { others: flows });
    stage.turn('<reset cd="later">N</reset>');
    stage.outside.add('later');
    expect(stage.turn('<result>YES</result>').at(-1)).toMatchObject({
      type: 'agent-failed',
      failure: { kind: 'bad-directory' },
    });
  });
});
