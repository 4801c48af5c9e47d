// An agent that does not end its step with an allowed tag gets a reminder in the same conversation.
import { describe, expect, test } from 'vitest';
import { suiteAges } from './claude-sandbox.ts';
import {
  answering,
  conversationLines,
  eventsOf,
  gate,
  killHard,
  sandboxes,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

const policy = `---
allowed_transitions:
  - { tag: goto, target: NEXT }
  - { tag: result }
---
`;
const mayWrite = `End your next message with exactly one of these tags, outside any code block:

    <goto>NEXT</goto>
    <result>[your result]</result>

Replace the parts in [brackets].
Do not repeat work that is done.`;

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('an answer after three reminders in the same session counts', async () => {
    const usage = { input_tokens: 10_000, output_tokens: 1_000 };
    const answers = [
      'I am done.',
      '<goto>NEXT</goto> or <result>x</result>',
      '<goto>START</goto>',
      '<result>at last</result>',
    ];
    const { run, model, journal } = await sandbox({
      age,
      workflow: { 'START.md': `${policy}Work.`, 'NEXT.md': 'More.' },
      script: (_, turn) => ({ content: answers[turn] ?? '', usage }),
    });
    const { code, stdout } = await run('workflow', '--workflow-id', 'r');
    expect([code, stdout]).toEqual([0, 'at last\n']);

    const conversation = model.requests.map(conversationLines).at(-1) ?? [];
    expect(conversation.filter((_, i) => i % 2 === 1)).toEqual(
      answers.slice(0, 3).map((answer) => `assistant: ${answer}`),
    );
    const [work, ...reminders] = conversation.filter((_, i) => i % 2 === 0);
    expect(work).toBe('user: Work.');
    expect(reminders).toHaveLength(3);
    for (const reminder of reminders) expect(reminder).toContain(mayWrite);
    expect(reminders[2]).toContain('<goto>START</goto> is not allowed in this state.');

    const costs = eventsOf(journal('r'), 'step-ended').map(({ cost }) => cost.usd.toFixed(4));
    expect(costs).toEqual(Array(4).fill(age === 'older' ? '0.0750' : '0.0600'));
  });
});

describe.each(suiteAges)('a check, with the %s Claude Code', (age) => {
  test('reminds the agent in the same session', async () => {
    const { run, model, journal } = await sandbox({
      age,
      workflow: {
        'START.md': `---
ensures: [{ run: "echo again >> tries; test $(wc -l < tries) -gt 1 || { echo 2 failed; exit 5; }", say: Make it green. }]
---
Work.`,
      },
      script: ['<result>early</result>', '<result>repaired</result>'],
    });
    const { code, stdout } = await run('workflow', '--workflow-id', 'r');
    expect([code, stdout]).toEqual([0, 'repaired\n']);
    const conversation = model.requests.map(conversationLines).at(-1) ?? [];
    expect(conversation.slice(0, 2)).toEqual(['user: Work.', 'assistant: <result>early</result>']);
    expect(conversation[2]).toContain('Make it green.');
    expect(conversation[2]).toContain('2 failed');
    const ended = eventsOf(journal('r'), 'step-ended');
    expect(ended.map(({ exit }) => exit)).toEqual([undefined, 5, undefined, 0]);
    expect(new Set(ended.flatMap(({ session }) => session?.id ?? [])).size).toBe(1);
  });
});

const checked = `---
allowed_transitions:
  - { tag: result, schema: review.schema.json }
---
Review.`;
const REVIEW = JSON.stringify({
  type: 'object',
  required: ['verdict'],
  properties: { verdict: { enum: ['yes', 'no'] } },
});

describe.each(suiteAges)('a schema, with the %s Claude Code', (age) => {
  test('that no answer fits ends the run after the reminders, with the place of the fault', async () => {
    const { run, model, journal } = await sandbox({
      age,
      workflow: { 'START.md': checked, 'review.schema.json': REVIEW },
      script: ['<result>{"verdict": "maybe"}</result>'],
    });
    const { code, stderr } = await run('workflow', '--workflow-id', 'r');
    expect(code).toBe(1);
    expect(model.requests).toHaveLength(4);
    const place = 'At /verdict: expected "yes" or "no", found "maybe".';
    expect(stderr).toContain(place);
    const [, , reminder] = conversationLines(model.requests.at(-1));
    expect(reminder).toContain(`does not fit review.schema.json. ${place}`);
    expect(reminder).toContain(`The JSON Schema review.schema.json: ${REVIEW}`);
    expect(eventsOf(journal('r'), 'agent-failed')[0]?.failure.message).toContain(place);
  });
});

test('a kill between an answer and its check leads to the same outcome', async () => {
  const answers = ['<result>{"verdict": "maybe"}</result>', '<result>{"verdict": "no"}</result>'];
  const gates = answers.map(gate);
  const { start, model, journal, outputHas } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': checked, 'review.schema.json': REVIEW },
    script: (_, turn) => ({
      content: answers[turn] ?? '',
      after: gates[turn]?.opened ?? Promise.resolve(),
    }),
  });
  let life = start('workflow', '--workflow-id', 'r');
  for (const [turn, { open }] of gates.entries()) {
    await model.arrived(turn + 1);
    await killHard(life.child);
    open();
    // Nobody has checked the answer yet.
    await outputHas(turn === 0 ? 'maybe' : '\\"no\\"');
    expect(eventsOf(journal('r'), 'agent-reminded')).toHaveLength(turn);
    life = start('resume', 'r');
  }
  expect(await life.finished).toMatchObject({ code: 0, stdout: '{"verdict": "no"}\n' });
  expect(model.requests).toHaveLength(2);
  expect(eventsOf(journal('r'), 'agent-ended')).toMatchObject([{ checked: true }]);
});

test('an agent fails after three reminders without effect', async () => {
  const { run, model } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': `${policy}Work.`, 'NEXT.md': 'More.' },
    script: ['I will not.'],
  });
  const { code, stderr } = await run('workflow');
  expect(code).toBe(1);
  expect(model.requests).toHaveLength(4);
  expect(stderr).toMatch(/START\.md -> failed/);
});

test('without a policy there is no reminder', async () => {
  const { run, model } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': 'Work.' },
    script: ['I am done.'],
  });
  expect(await run('workflow')).toMatchObject({ code: 1 });
  expect(model.requests).toHaveLength(1);
});

test('a single allowed transition need not be written, and can be forced', async () => {
  const only = '---\nallowed_transitions:\n  - { tag: goto, target: TWO }\n---\n';
  const forced =
    '---\nforce_implicit: true\nallowed_transitions:\n  - { tag: goto, target: THREE }\n---\n';
  const { run, model } = await sandbox({
    age: 'newer',
    workflow: {
      'START.md': `${only}Do one.`,
      'TWO.md': `${forced}Do two.`,
      'THREE.md': 'Do three.',
    },
    script: answering({
      'Do one.': 'Nothing to say.',
      'Do two.': '<result>I quit</result>',
      'Do three.': '<result>all done</result>',
    }),
  });
  expect(await run('workflow')).toMatchObject({ code: 0, stdout: 'all done\n' });
  expect(model.requests).toHaveLength(3);
});
