// An agent that speaks the Agent Client Protocol, well or badly, as an executor.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ruleFor } from '../../src/execute/acp/call-rule.ts';
import { acpAgent } from '../../src/execute/acp/declaration.ts';
import type { SessionUse } from '../../src/model/event.ts';
import type { PermissionRequest } from '../../src/model/permission.ts';
import type { Asking, StepOutcome } from '../../src/ports.ts';
import { executorContract, replaceFile } from '../contracts/agent-executor.ts';
import { eventually } from '../eventually.ts';
import { fresh, leftTurn, scripted, scriptedWith } from './scripted-acp.ts';

const { can } = acpAgent({ name: 'scripted', branch: false, adopt: true, cost: 'tokens' });

executorContract('an agent without fork', { can, namesSessions: true }, async () => {
  const { world, log, ask } = await scripted('load');
  return {
    ...world,
    begun: (count) => eventually('the steps begin', () => log().length >= count),
    converse: {
      ask: (prompt, session) => ask(prompt, session),
      heard: () => log().map(({ history }) => history),
    },
  };
});

const goOn = (outcome: StepOutcome): SessionUse => ({ use: 'continue', id: idOf(outcome) });

test('one process serves all sessions of an agent, as the steps say', async () => {
  const { ask, log, close } = await scripted('fork', 'load', 'echo');
  const main = await ask('Q0', fresh());
  const branch = await ask('Q1', { use: 'branch', from: idOf(main), id: randomUUID() });
  await ask('Q2', goOn(main));
  await ask('Q3', goOn(branch));
  await ask('Q4', fresh());
  expect(log().map(({ history }) => history.join(' '))).toEqual([
    'Q0',
    'Q0 A0 Q1',
    'Q0 A0 Q2',
    'Q0 A0 Q1 A1 Q3',
    'Q4',
  ]);
  expect(new Set(log().map(({ pid }) => pid)).size).toBe(1);
  await close();
});

test.each(['load', 'resume'])(
  'a later process continues a session with session/%s, and its replay is not the answer',
  async (how) => {
    const { ask, log } = await scripted('fork', how, 'echo');
    const cold = { warm: false };
    const id = randomUUID();
    const main = await ask('Q0', { use: 'fresh', id }, cold);
    const again = await ask('Q1', { use: 'continue', id }, cold);
    const branch = await ask('Q2', { use: 'branch', from: idOf(main), id: randomUUID() }, cold);
    expect([again, branch].map(textOf)).toEqual(['A1', 'A2']);
    expect(log().map(({ history }) => history.join(' '))).toEqual([
      'Q0',
      'Q0 A0 Q1',
      'Q0 A0 Q1 A1 Q2',
    ]);
    expect(new Set(log().map(({ pid }) => pid)).size).toBe(3);
  },
);

test.each([
  ['an agent that cannot load', {}, ['echo']],
  ['an agent that loses sessions', { losesSessions: true }, ['echo', 'load', 'resume']],
] as const)('%s keeps its process, even without warm processes', async (_, known, can) => {
  const { ask, log, close, world } = await scriptedWith(known, ...can);
  const main = await ask('Q0', fresh(), { warm: false });
  expect(textOf(await ask('Q1', goOn(main), { warm: false }))).toBe('A1');
  expect(new Set(log().map(({ pid }) => pid)).size).toBe(1);
  await close();
  await eventually('no process is left', () => world.left().length === 0);
  const { ask: askLater } = await world.later();
  const gone = await askLater('Q2', goOn(main));
  expect(gone).toMatchObject({ kind: 'failed', failure: { kind: 'session-gone' } });
});

test('people are told once if the output of a process was replaced, which still serves', async () => {
  const { ask, step, lives, log, close } = await scripted('load', 'echo');
  const first = step('Q0', fresh());
  const main = await ask(first);
  replaceFile(join(first.folder, 'stdout'));
  await ask('Q1', goOn(main));
  expect(textOf(await ask('Q2', goOn(main)))).toBe('A2');
  expect(lives.filter(({ kind }) => kind === 'warning')).toHaveLength(1);
  expect(new Set(log().map(({ pid }) => pid)).size).toBe(1);
  await close();
});

test('a branch that the agent does not offer is refused, whatever was declared', async () => {
  const { ask, close } = await scripted('load');
  const main = await ask('Q0', fresh());
  const branch = await ask('Q1', { use: 'branch', from: idOf(main), id: randomUUID() });
  expect(branch).toMatchObject({ kind: 'failed', failure: { kind: 'refused' } });
  expect(failureText(branch)).toContain('does not offer session/fork');
  await close();
});

test('noise of all kinds changes neither the answer nor the session', async () => {
  const { ask, lives, close } = await scripted('load');
  const outcome = await ask('noisy', fresh());
  expect(outcome).toMatchObject({ kind: 'answered', output: 'the answer' });
  const texts = lives.flatMap((live) => (live.kind === 'text' ? [live.text] : []));
  expect(texts).toEqual(['files: -32601 ', 'A remark of the program.', 'the answer']);
  await close();
});

test.each([
  ['exits', 'crashed', 'The engine is broken.'],
  ['mute', 'blocked', 'did not answer'],
  ['stops refusal', 'refused', 'refused to answer'],
  ['stops max_tokens', 'refused', 'limit of tokens'],
  ['stops max_turn_requests', 'refused', 'limit of requests'],
  ['stops cancelled', 'blocked', 'cancelled the turn by itself'],
  ['stops whatever', 'crashed', 'without a known reason'],
  ['error -32000 Authentication required', 'not-logged-in', 'Run "scripted login"'],
  ['error -32603 Invalid API key', 'not-logged-in', 'Invalid API key'],
  [
    'error -32603 You have reached your usage limit, try again in 60 s',
    'usage-limit',
    'usage limit',
  ],
  ['error -32603 insufficient_quota', 'no-credit', 'insufficient_quota'],
  ['error -32603 The model x does not exist', 'unknown-model', 'does not exist'],
  ['error -32603 503 overloaded', 'overloaded', 'overloaded'],
  ['error -32603 fetch failed', 'connection-lost', 'fetch failed'],
  ['error -32603 Internal error', 'refused', 'Internal error'],
])('"%s" is a failure of the kind %s', async (prompt, kind, message) => {
  const { ask } = await scripted('load');
  const outcome = await ask(prompt, fresh());
  expect(outcome).toMatchObject({ kind: 'failed', failure: { kind } });
  expect(failureText(outcome)).toContain(message);
  if (outcome.kind === 'failed' && kind === 'usage-limit')
    expect(outcome.failure.resetsAt).toBeGreaterThan(Date.now());
});

test.each([
  ['logged-out', 'not-logged-in', 'Run "scripted login"'],
  ['version-2', 'refused', 'version 2 of the Agent Client Protocol'],
])('an agent that is %s cannot begin', async (how, kind, message) => {
  const { ask, world } = await scripted(how);
  const outcome = await ask('Q', fresh());
  expect(outcome).toMatchObject({
    kind: 'failed',
    failure: { kind },
    account: { cost: { usd: 0 } },
  });
  expect(failureText(outcome)).toContain(message);
  await eventually('no process is left', () => world.left().length === 0);
});

test('a silent turn is cancelled, and its process ended', async () => {
  const { ask, world } = await scripted('load');
  const outcome = await ask('never', fresh(), { idleTimeoutMs: 300 });
  expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'idle' } });
  expect(world.left()).toEqual([]);
});

test.each(['never', 'deaf'])(
  'a stop of a turn that is %s leaves no process, and keeps what was paid',
  async (how) => {
    const { world, step, log } = await scripted('load');
    const running = world.executor.start(step(how, fresh()), () => {});
    await eventually('the turn begins', () => log().length > 0);
    running.stop();
    const outcome = await running.outcome;
    expect(outcome).toMatchObject({ kind: 'interrupted', sessionUsable: how === 'deaf' });
    expect(world.left()).toEqual([]);
    if (how === 'deaf') expect(outcome.account.cost).toMatchObject({ from: 'estimated' });
  },
);

test('an agent that never answers can be stopped at its start', async () => {
  const { world, step } = await scripted('asleep');
  const running = world.executor.start(step('Q', fresh()), () => {});
  await eventually('the process begins', () => world.left().length > 0);
  running.stop();
  expect(await running.outcome).toMatchObject({ kind: 'interrupted', sessionUsable: false });
  expect(world.left()).toEqual([]);
});

test('costs are told, priced or estimated, and each turn is counted once', async () => {
  const { ask, close, lives } = await scripted('load', 'fork');
  const main = await ask('costs 0.25', fresh());
  expect(main.account).toMatchObject({ cost: { usd: 0.25, from: 'told' }, contextTokens: 1 });
  const again = await ask('costs 0.5', goOn(main));
  expect(again.account.cost).toEqual({ usd: 0.5, from: 'told' });
  // Also during the turn, for the live view.
  expect(lives.flatMap((live) => (live.kind === 'spent' ? [live.usd] : []))).toEqual([0.25, 0.5]);
  const priced = await ask('Q', fresh());
  expect(priced.account).toMatchObject({
    cost: { from: 'priced' },
    usage: { inputTokens: 60, cacheReadTokens: 40, outputTokens: 20 },
  });
  expect(priced.account.cost.usd).toBeCloseTo((100 * 30 + 20 * 180) / 1_000_000, 9);
  // Two requests of one turn, each with its own report.
  expect((await ask('meters', fresh())).account).toMatchObject({
    cost: { usd: expect.closeTo((200 * 30 + 40 * 180) / 1_000_000, 9), from: 'priced' },
    usage: { inputTokens: 120, cacheReadTokens: 80, outputTokens: 40 },
  });
  expect((await ask('bare', fresh())).account.cost).toMatchObject({
    usd: expect.closeTo((4 * 30 + 4 * 180) / 1_000_000, 9),
    from: 'estimated',
  });
  await close();
});

test('tokens of the last request stand for as many requests as there may have been', async () => {
  const { ask, close } = await scriptedWith({ countsLastRequest: true }, 'load');
  const once = (100 * 30 + 20 * 180) / 1_000_000;
  expect((await ask('Q', fresh())).account.cost).toMatchObject({
    ...{ usd: expect.closeTo(once, 9), from: 'priced' },
  });
  expect((await ask('calls 2', fresh())).account.cost).toMatchObject({
    ...{ usd: expect.closeTo(3 * once, 9), from: 'estimated' },
  });
  expect((await ask('costs 0.25', fresh())).account.cost).toEqual({ usd: 0.25, from: 'told' });
  await close();
});

test('of the tokens of all turns, only those of this turn are counted', async () => {
  const { ask, close } = await scriptedWith({ countsAllTurns: true }, 'load');
  const main = await ask('totals 1', fresh());
  const second = await ask('totals 3', goOn(main));
  const other = await ask('totals 1', fresh());
  const outputs = [main, second, other].map(({ account }) => account.usage?.outputTokens);
  expect(outputs).toEqual([20, 40, 20]);
  // A new process begins to count again.
  const cold = await ask('totals 4', goOn(main), { warm: false });
  expect(cold.account.usage?.outputTokens).toBe(80);
  await close();
});

test('a model applies to the turns that name it, and the price follows it', async () => {
  const prices = {
    small: { input: 1, cached: 1, output: 1 },
    large: { input: 2, cached: 2, output: 2 },
  };
  const { ask, log, close } = await scriptedWith({ prices }, 'models');
  const main = await ask('Q0', fresh());
  const large = await ask('Q1', goOn(main), { choices: { model: 'large' } });
  const small = await ask('Q2', goOn(main));
  expect(log().map(({ model }) => model)).toEqual([undefined, 'acme/large', 'acme/small']);
  expect([main, large, small].map(({ account }) => account.cost.usd * 1_000_000)).toEqual([
    120, 240, 120,
  ]);
  const unknown = await ask('Q3', goOn(main), { choices: { model: 'medium' } });
  expect(unknown).toMatchObject({ kind: 'failed', failure: { kind: 'unknown-model' } });
  expect(failureText(unknown)).toContain('It offers acme/small, acme/large.');
  await close();
});

const OPTIONS = [
  { optionId: 'ever', name: 'Always', kind: 'allow_always' },
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const chosen = (option: string) => `reply: {"outcome":"selected","optionId":"${option}"}`;
const cancelled = 'reply: {"outcome":"cancelled"}';
const edit = (path: string) => ({ kind: 'edit', title: 'an edit', locations: [{ path }] });
const run = { kind: 'execute', title: 'make' };

test.each([
  ['an edit in the directory', edit('a.txt'), OPTIONS, {}, chosen('yes')],
  ['an edit outside', edit('/etc/passwd'), OPTIONS, {}, chosen('no')],
  ['an edit through a link', edit('link/a.txt'), OPTIONS, {}, chosen('no')],
  ['an edit without a file', { kind: 'edit' }, OPTIONS, {}, chosen('no')],
  [
    'an edit of .raymond',
    edit('.raymond/config.toml'),
    OPTIONS,
    { skipPermissions: true },
    chosen('no'),
  ],
  [
    'an edit of the workflow',
    edit('flow/START.md'),
    OPTIONS,
    { skipPermissions: true },
    chosen('no'),
  ],
  ['an edit of the task folder', edit('../user/tasks/a/x'), OPTIONS, {}, chosen('yes')],
  ['an edit of another task folder', edit('../user/tasks/b/x'), OPTIONS, {}, chosen('no')],
  [
    "a look at the user's key",
    { ...edit('../user/key'), kind: 'read' },
    OPTIONS,
    { skipPermissions: true },
    chosen('no'),
  ],
  ['a move of .raymond', { ...edit('.raymond'), kind: 'move' }, OPTIONS, {}, chosen('no')],
  ['a move of the folder above', { ...edit('.'), kind: 'move' }, OPTIONS, {}, chosen('no')],
  ['a deletion of the workflow', { ...edit('flow'), kind: 'delete' }, OPTIONS, {}, chosen('no')],
  ['an edit of .git/config', edit('.git/config'), OPTIONS, {}, chosen('no')],
  ['an edit of .GIT/config', edit('.GIT/config'), OPTIONS, {}, chosen('no')],
  ['an edit of opencode.json', edit('opencode.json'), OPTIONS, {}, chosen('no')],
  ['an edit of a hook below', edit('sub/.claude/settings.json'), OPTIONS, {}, chosen('no')],
  [
    'an edit of a hook without limits',
    edit('.claude/settings.json'),
    OPTIONS,
    { skipPermissions: true },
    chosen('yes'),
  ],
  ['an edit of a file beside the states', edit('flow/plan.md'), OPTIONS, {}, chosen('yes')],
  ['an edit in plan mode', edit('a.txt'), OPTIONS, { permissionMode: 'plan' }, chosen('no')],
  ['a command', run, OPTIONS, {}, chosen('no')],
  ['a command without limits', run, OPTIONS, { skipPermissions: true }, chosen('yes')],
  ['no options', edit('a.txt'), [], {}, cancelled],
  ['only for ever', edit('a.txt'), OPTIONS.slice(0, 1), {}, cancelled],
  ['odd options', edit('a.txt'), [7, null, { kind: 'allow_once' }], {}, cancelled],
  ['reject for ever', run, [{ optionId: 'never', kind: 'reject_always' }], {}, chosen('never')],
] as const)(
  'without a person, the run decides: %s',
  async (_, call, options, choices, expected) => {
    const { ask, lives } = await scripted('load');
    const outcome = await ask(`wants ${JSON.stringify({ options, call })}`, fresh(), {
      choices,
      warm: false,
    });
    expect(textOf(outcome)).toBe(expected);
    const isDenied = expected !== chosen('yes');
    expect(outcome).toMatchObject({ denied: isDenied ? [expect.any(String)] : [] });
    expect(lives.some(({ kind }) => kind === 'denied')).toBe(isDenied);
  },
);

function requestIn([first]: readonly Asking[]): PermissionRequest {
  if (first?.kind !== 'requested') throw new Error('There is no request.');
  return first.request;
}

test.each([
  ['allow', chosen('yes')],
  ['deny', chosen('no')],
] as const)('a person decides about the rest: %s', async (decision, expected) => {
  const { world, step } = await scripted('load');
  const hostile = {
    ...run,
    title: `make\u001b[2J ${'x'.repeat(10_000)}`,
    rawInput: { command: 'make\nall', 'odd key': 1 },
  };
  const asked: Asking[] = [];
  const running = world.executor.start(
    step(`wants ${JSON.stringify({ options: OPTIONS, call: hostile })}`, fresh(), {
      asksPermissions: true,
      warm: false,
    }),
    () => {},
    (asking) => asked.push(asking),
  );
  await eventually('the request arrives', () => asked.length > 0);
  const first = requestIn(asked);
  expect(first).toMatchObject({ request: expect.stringMatching(/^\w{16}$/), tool: 'execute' });
  expect(first.summary.length).toBeLessThanOrEqual(300);
  expect(first.input).toContain('command:\n  make\n  all\n"odd key": 1');
  running.decide?.(first.request, { decision });
  running.decide?.(first.request, { decision: 'allow' });
  expect(textOf(await running.outcome)).toBe(expected);
});

const push = { ...run, title: 'git push', rawInput: { command: 'git push' } };
const asksFor = (call: object, more: object = {}) =>
  `wants ${JSON.stringify({ options: OPTIONS, call, ...more })}`;

test('the rule of a request has all arguments that the agent reports, before or after it', async () => {
  const { world, step } = await scripted('load');
  const requestFor = async (call: object, more?: object) => {
    const asked: Asking[] = [];
    const parts = { asksPermissions: true, warm: false };
    const running = world.executor.start(
      step(asksFor(call, more), fresh(), parts),
      () => {},
      (one) => asked.push(one),
    );
    await eventually('the request arrives', () => asked.length > 0);
    const request = requestIn(asked);
    running.decide?.(request.request, { decision: request.rules ? 'allow-run' : 'allow' });
    expect(textOf(await running.outcome)).toBe(chosen('yes'));
    return request;
  };
  const reported = { cwd: '/work', command: 'git push' };
  const here = await requestFor(push, { reported });
  expect(here).toMatchObject({ input: 'git push\ncwd: /work\ncommand: git push', isExact: true });
  for (const late of [true, false])
    expect((await requestFor(push, { reported, late })).rules).toEqual(here.rules);
  const there = await requestFor(push, { reported: { ...reported, cwd: '/etc' }, late: true });
  expect(there.rules).toHaveLength(1);
  expect(there.rules).not.toEqual(here.rules);

  // The report is of another call, the arguments are missing, or they are too long to show.
  const others = [{ command: 'git pull' }, {}, { ...reported, long: 'x'.repeat(20_000) }];
  for (const other of others)
    expect((await requestFor(push, { reported: other })).rules).toBe(undefined);
  expect((await requestFor(run, { reported })).rules).toBe(undefined);
});

test('a rule of the run also holds in a run that asks no person', async () => {
  const { world, step, file } = await scripted('load');
  const rule = ruleFor(push, 'execute', { name: 'scripted', cwd: file('work') });
  const granted = rule === undefined ? [] : [rule];
  const outcomeOf = (call: object) => {
    const running = world.executor.start(
      step(asksFor(call), fresh(), { granted, warm: false }),
      () => {},
      // The run decides, and no person.
      (one) => running.decide?.(requestIn([one]).request, { decision: 'allow' }),
    );
    return running.outcome;
  };
  expect(textOf(await outcomeOf(push))).toBe(chosen('yes'));
  expect(textOf(await outcomeOf({ ...push, title: 'git push -f' }))).toBe(chosen('no'));
});

test('a later process answers a request that an earlier one left open', async () => {
  const { world, step } = await scripted('load');
  const asking = step(`wants ${JSON.stringify({ options: OPTIONS, call: run })}`, fresh(), {
    asksPermissions: true,
  });
  const first: Asking[] = [];
  const running = world.executor.start(
    asking,
    () => {},
    (one) => first.push(one),
  );
  await eventually('the request arrives', () => first.length > 0);
  world.leave();
  expect(await running.outcome).toMatchObject({ kind: 'interrupted' });
  const later = world.again();
  const second: Asking[] = [];
  const adopted = later.adopt(
    asking,
    () => {},
    (one) => second.push(one),
  );
  await eventually('the request arrives again', () => second.length > 0);
  expect(second).toEqual(first);
  adopted.decide?.(requestIn(second).request, { decision: 'allow' });
  expect(textOf(await adopted.outcome)).toBe(chosen('yes'));
  await later.close?.();
  expect(world.left()).toEqual([]);
});

test('a turn continues while no Raymond process exists', async () => {
  const play = await scripted('load');
  const { world, log, file } = play;
  const { waits, later } = await leftTurn(play);
  await writeFile(file('go'), '');
  const stdout = join(waits.folder, 'stdout');
  await eventually('it ends', () => readFileSync(stdout, 'utf8').includes('end_turn'));
  const outcome = await later.adopt(waits, () => {}).outcome;
  expect(outcome).toMatchObject({ kind: 'answered', output: 'the answer' });
  expect(log()).toHaveLength(1);
  await later.close?.();
  expect(world.left()).toEqual([]);
});

// The first one cannot load sessions.
test.each([['echo'], ['load', 'echo']])(
  'an adopted process takes the next turn (%s)',
  async (...can) => {
    const play = await scripted(...can);
    const { world, step, log, file } = play;
    const { waits, later } = await leftTurn(play);
    const adopted = later.adopt(waits, () => {});
    await writeFile(file('go'), '');
    const first = await adopted.outcome;
    const second = await later.start(step('Q1', goOn(first)), () => {}).outcome;
    expect(second).toMatchObject({ kind: 'answered' });
    const [before, after] = log();
    expect(after?.pid).toBe(before?.pid);
    expect(after?.history).toHaveLength(3);
    await later.close?.();
    expect(world.left()).toEqual([]);
  },
);

test('a repeated prompt is not sent twice to a session', async () => {
  const { ask, step, log } = await scripted('load', 'echo');
  const main = await ask('Q0', fresh(), { warm: false });
  const failing = step('error -32603 boom', goOn(main), { warm: false });
  expect(await ask(failing)).toMatchObject({ kind: 'failed' });
  await ask('error -32603 boom', goOn(main), {
    previousFolder: failing.folder,
    attempt: 2,
    warm: false,
  });
  expect(log().at(-1)?.history.at(-1)).toMatch(/^The last turn broke off/);
});

function idOf({ account }: StepOutcome): string {
  if (!account.session) throw new Error('The turn has no session.');
  return account.session.id;
}

function textOf(outcome: StepOutcome): string {
  if (outcome.kind !== 'answered') throw new Error(`It did not answer: ${JSON.stringify(outcome)}`);
  return outcome.output.slice(0, outcome.output.length);
}

function failureText(outcome: StepOutcome): string {
  return outcome.kind === 'failed' ? outcome.failure.message : '';
}
