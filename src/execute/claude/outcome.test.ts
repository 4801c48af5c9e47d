import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Happening, messageReader } from './messages.ts';
import { type TurnEnd, type TurnOutcome, turnRecord } from './outcome.ts';

/** Turns of the real versions 2.1.197 and 2.1.325 with a scripted model, without large fields. */
interface Recorded {
  readonly age: string;
  readonly name: string;
  readonly exit: { readonly code: number | null; readonly signal: string | null };
  readonly stderr: string;
  readonly lines: readonly string[];
}

const recorded: Recorded[] = readFileSync(new URL('recorded-turns.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

const now = Date.UTC(2026, 10, 16, 8);

const kinds: Readonly<Record<string, string>> = {
  answered: 'answered',
  'answered, a tool denied': 'answered',
  'invalid key': 'not-logged-in',
  'token rejected': 'not-logged-in',
  'no key': 'not-logged-in',
  forbidden: 'not-logged-in',
  'no credit': 'no-credit',
  'bad request': 'refused',
  'too long': 'refused',
  'unknown model': 'unknown-model',
  'server error': 'overloaded',
  overloaded: 'overloaded',
  'rate limited': 'overloaded',
  'rate limited with a subscription': 'overloaded',
  'usage limit': 'usage-limit',
  'connection dropped': 'connection-lost',
  'connection reset': 'connection-lost',
  'connection refused': 'connection-lost',
  'malformed answer': 'connection-lost',
  'no answer in time': 'connection-lost',
  'budget spent between calls': 'budget-spent',
  'budget spent by the answer': 'answered',
  'no such session': 'session-gone',
  interrupted: 'crashed',
  terminated: 'crashed',
  'wrong option': 'refused',
  'prompt blocked by a hook': 'blocked',
  'prompt stopped by a hook': 'blocked',
  'stopped by a hook after a tool': 'blocked',
  'refused by the policy': 'refused',
  'output limit': 'refused',
  'context limit': 'refused',
  'token revoked': 'not-logged-in',
  'several blocks': 'answered',
  'nothing said': 'answered',
};

describe.each(recorded)('$age: $name', ({ name, exit, stderr, lines }) => {
  const outcome = outcomeOf(happenings(lines), { exit, stderrTail: stderr });

  it(`is ${kinds[name]}`, () => {
    expect(outcome.kind === 'failed' ? outcome.failure.kind : outcome.kind).toBe(kinds[name]);
  });

  it('has a readable message', () => {
    if (outcome.kind === 'answered') {
      return expect(outcome.text).toMatch(/fine|could|the answer|^$/);
    }
    expect(outcome.failure.message).toMatch(/^[A-Z].{10}/);
    expect(outcome.failure.message).not.toContain('ede_diagnostic');
    expect(outcome.failure.message).not.toContain('/login');
  });
});

it.each(['older', 'newer'])('reports denied tools and the cost (%s)', (age) => {
  expect(replay(age, 'answered, a tool denied')).toMatchObject({
    text: 'could not',
    denied: [{ tool: 'Bash', summary: 'curl http://127.0.0.1:9/' }],
    cost: { usd: expect.closeTo(age === 'older' ? 0.0753 : 0.06024, 6), from: 'told' },
  });
});

it('adds edits that a rule refused, which older versions do not list', () => {
  const record = turnRecord();
  const use = (call: string) =>
    ({ kind: 'tool-use', name: 'Write', summary: `/p/${call}`, call }) as const;
  for (const call of ['told', 'untold', 'fine']) record.add(use(call));
  record.add({ kind: 'tool-results', calls: ['told', 'untold'], refused: ['told', 'untold'] });
  record.add({ kind: 'tool-results', calls: ['fine'], refused: [] });
  record.add({ kind: 'message', id: 'm', isSynthetic: false });
  record.add({ kind: 'text', text: 'done' });
  record.add({
    ...{ kind: 'result', subtype: 'success', isError: false, text: 'done' },
    denials: [{ call: 'told', tool: 'Write', summary: '/p/told' }],
    errors: [],
  });
  expect(record.outcome({ now: 0, countedUsd: 0, stderrTail: '' })).toMatchObject({
    denied: [{ summary: '/p/told' }, { summary: '/p/untold' }],
  });
});

it.each(['older', 'newer'])('joins the texts of the last message only (%s)', (age) => {
  expect(replay(age, 'several blocks')).toMatchObject({ text: 'fine so far\nand fine' });
  expect(replay(age, 'nothing said')).toMatchObject({ text: '' });
});

it.each(['older', 'newer'])('does not quote a prompt that a hook blocked (%s)', (age) => {
  expect(replay(age, 'prompt blocked by a hook')).toMatchObject({
    failure: { message: expect.stringMatching(/Not today\. Check its hooks and settings\.$/) },
  });
  expect(JSON.stringify(replay(age, 'prompt blocked by a hook'))).not.toContain('DEPLOY');
});

it.each(['older', 'newer'])('explains how to log in without a terminal (%s)', (age) => {
  const remedy = 'Log in with "claude auth login", or set ANTHROPIC_API_KEY.';
  expect(replay(age, 'no key')).toMatchObject({ failure: { message: `Not logged in. ${remedy}` } });
});

it.each(['older', 'newer'])('reports when a usage limit ends (%s)', (age) => {
  expect(replay(age, 'usage limit')).toMatchObject({
    failure: { resetsAt: Date.UTC(2026, 10, 16, 10) },
  });
});

it.each(['older', 'newer'])('counts the cost of an interrupted turn (%s)', (age) => {
  const { cost } = replay(age, 'interrupted');
  expect(cost.from).toBe('estimated');
  expect(cost.usd).toBeGreaterThan(0);
});

describe('the outcome', () => {
  const result: Happening = {
    kind: 'result',
    subtype: 'success',
    isError: false,
    text: 'first',
    costUsd: 5,
    denials: [],
    errors: [],
  };
  const message = (text: string, id = 'm'): Happening[] => [
    { kind: 'message', id, isSynthetic: false },
    { kind: 'text', text },
  ];
  const spent: Happening = {
    kind: 'spent',
    message: 'm',
    model: 'claude-opus-4-8',
    inputTokens: 1_000_000,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    characters: 0,
  };

  it('is the outcome of the last result', () => {
    const last = { ...result, costUsd: 6 };
    const outcome = outcomeOf([...message('first'), result, ...message('second', 'n'), last]);
    expect(outcome).toMatchObject({ text: 'second', cost: { usd: 6, from: 'told' } });
  });

  it('has the text of the model, never the text of the result', () => {
    expect(outcomeOf([...message('fine'), result])).toMatchObject({ text: 'fine' });
    expect(outcomeOf([result])).toMatchObject({ failure: { kind: 'blocked' } });
    const made: Happening = { kind: 'message', id: 's', isSynthetic: true };
    expect(outcomeOf([...message('fine'), made, result])).toMatchObject({
      failure: { kind: 'blocked' },
    });
  });

  it('begins a new message after input to the model, whatever the id of the message', () => {
    const input: Happening = { kind: 'input' };
    expect(
      outcomeOf([...message('I look.', ''), input, ...message('I saw.', ''), result]),
    ).toMatchObject({
      text: 'I saw.',
    });
  });

  it('excludes the cost that was counted before', () => {
    expect(outcomeOf([...message('x'), result], { countedUsd: 4.5 }).cost.usd).toBe(0.5);
  });

  it('uses the cost in the result of an answer', () => {
    expect(outcomeOf([...message('x'), spent, { ...result, costUsd: 1 }]).cost).toEqual({
      usd: 1,
      from: 'told',
    });
  });

  it('uses the cost in the result of a failure', () => {
    const failure: Happening = { ...result, isError: true, status: 500, costUsd: 1 };
    expect(outcomeOf([spent, failure]).cost).toEqual({ usd: 1, from: 'told' });
  });

  it('estimates the cost of a turn that was killed', () => {
    const killed = outcomeOf([spent], { exit: { code: null, signal: 'SIGKILL' } });
    expect(killed).toMatchObject({
      kind: 'failed',
      failure: { kind: 'crashed' },
      cost: { usd: 5, from: 'estimated' },
    });
  });

  it('is not a usage limit if only the agent writes about one', () => {
    const quote: Happening = { kind: 'text', text: "You've hit your session limit · resets 8pm" };
    const failed: Happening = { ...result, isError: true, text: 'API Error: 500', status: 500 };
    expect(outcomeOf([quote, failed])).toMatchObject({ failure: { kind: 'overloaded' } });
    expect(outcomeOf([quote])).toMatchObject({ failure: { kind: 'crashed' } });
  });

  it('is not a usage limit while extra usage lets the turn continue', () => {
    const rejected: Happening = { kind: 'rate-limit', rejected: true, resetsAt: 1 };
    expect(outcomeOf([rejected, ...message('x'), result]).kind).toBe('answered');
  });

  it('of a monthly spending limit is no-credit, because waiting does not help', () => {
    const text = "You've hit your monthly spend limit.";
    expect(outcomeOf([{ ...result, isError: true, text, status: 429 }])).toMatchObject({
      failure: { kind: 'no-credit' },
    });
  });

  it('without a result quotes the end of standard error', () => {
    const outcome = outcomeOf([], {
      exit: { code: 1, signal: null },
      stderrTail: 'Error: Session ID U is already in use.\n',
    });
    expect(outcome).toMatchObject({
      failure: {
        kind: 'refused',
        message:
          'Claude Code ended without a result (exit code 1). Error: Session ID U is already in use.',
      },
    });
  });
});

function replay(age: string, name: string): TurnOutcome {
  const turn = recorded.find((each) => each.age === age && each.name === name);
  if (turn === undefined) throw new Error(`There is no recorded turn "${name}" of ${age}.`);
  return outcomeOf(happenings(turn.lines), { exit: turn.exit, stderrTail: turn.stderr });
}

function happenings(lines: readonly string[]): Happening[] {
  const read = messageReader();
  return lines.flatMap((line) => read(`${line}\n`));
}

function outcomeOf(all: readonly Happening[], end: Partial<TurnEnd> = {}): TurnOutcome {
  const record = turnRecord();
  for (const happening of all) record.add(happening);
  return record.outcome({ now, countedUsd: 0, stderrTail: '', ...end });
}
