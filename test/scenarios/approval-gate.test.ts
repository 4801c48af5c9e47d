/** A release that a person must approve within a day. Everything that happens is asserted. */
import { describe, expect, test } from 'vitest';
import { lint } from '../../src/lint/lint.ts';
import type { RunEvent } from '../../src/model/event.ts';
import { type Answers, play, type Script, scriptedWorkflow } from '../../src/testing.ts';

const DAY = 24 * 60 * 60 * 1000;

const policy = (...entries: string[]) =>
  `---\nallowed_transitions:\n${entries.map((entry) => `  - ${entry}\n`).join('')}---\n`;

const TEXTS = {
  START: `${policy('{ tag: goto, target: GATE }', '{ tag: result }')}Prepare the release of {{input}}. End with <goto>GATE</goto>, or with <result>nothing to release</result>.`,
  GATE: `${policy('{ tag: ask, next: DECIDE, timeout: 24h, timeout_next: LATE }')}Ask: <ask next="DECIDE" timeout="24h" timeout_next="LATE">May I release?</ask>`,
  DECIDE: `${policy('{ tag: call, target: RELEASE, return: REPORT }', '{ tag: goto, target: GATE }', '{ tag: result }')}The answer: {{result}}. A yes is <call return="REPORT">RELEASE</call>, a question is <goto>GATE</goto>, a no is <result>declined</result>.`,
  RELEASE: `${policy('{ tag: result }')}Release it. <result>the version</result>`,
  REPORT: `${policy('{ tag: result }')}Released: {{result}}. <result>a sentence</result>`,
  LATE: `---\nforce_implicit: true\nallowed_transitions:\n  - { tag: result, payload: not approved in time }\n---\nUndo the preparation.`,
};

const ASK = '<ask next="DECIDE" timeout="24h" timeout_next="LATE">May I release 1.2?</ask>';

function flow(answers: Readonly<Record<string, Answers>>): Script {
  return Object.fromEntries(
    Object.entries(TEXTS).map(([name, text]) => [name, { text, answers: answers[name] ?? [] }]),
  );
}

const PREPARED = {
  START: [{ text: 'Prepared. <goto>GATE</goto>', costUsd: 0.5 }],
  GATE: [{ text: ASK, costUsd: 0.1 }],
};

const kinds = (events: readonly RunEvent[]) =>
  events.filter(({ type }) => !type.startsWith('step-')).map(({ type }) => type);

const one = <T extends RunEvent['type']>(events: readonly RunEvent[], type: T) => {
  const found = events.filter(
    (event): event is Extract<RunEvent, { type: T }> => event.type === type,
  );
  expect(found).toHaveLength(1);
  return found[0] as Extract<RunEvent, { type: T }>;
};

test('the workflow has no fault', () => {
  // A person decides in each round, and the budget limits the rest.
  const found = lint(scriptedWorkflow(flow({})));
  expect(found.filter(({ severity }) => severity !== 'note')).toEqual([]);
});

test('a yes leads to the release, and its result to the report', async () => {
  const played = await play(
    flow({
      ...PREPARED,
      DECIDE: [{ text: 'Yes. <call return="REPORT">RELEASE</call>', costUsd: 0.1 }],
      RELEASE: [{ text: '<result>v1.2 "final" & <signed></result>', costUsd: 1 }],
      REPORT: [{ text: '<result>Released 1.2.</result>', costUsd: 0.3 }],
    }),
    { input: 'version 1.2', answers: ['Yes, please.\nBut slowly.'] },
  );
  expect(played.path()).toEqual(['START', 'GATE', 'DECIDE', 'RELEASE', 'REPORT']);
  expect(kinds(played.events)).toEqual([
    'run-started',
    'agent-moved',
    'agent-asked',
    'agent-answered',
    'agent-moved',
    'agent-moved',
    'agent-ended',
    'run-ended',
  ]);
  expect(one(played.events, 'agent-asked')).toMatchObject({
    question: 'May I release 1.2?',
    next: 'DECIDE.md',
    timeoutNext: 'LATE.md',
  });
  const prompts = played.steps.map(({ prompt }) => prompt);
  expect(prompts[0]).toContain('the release of version 1.2.');
  expect(prompts[2]).toContain('The answer: Yes, please.\nBut slowly..');
  expect(prompts[4]).toContain('Released: v1.2 "final" & <signed>.');
  const [main, , , called] = played.steps.map(({ session }) => session?.id);
  expect(played.steps.map(({ session }) => session)).toEqual([
    { use: 'fresh', id: main },
    { use: 'continue', id: main },
    { use: 'continue', id: main },
    { use: 'branch', from: main, id: called },
    { use: 'continue', id: main },
  ]);
  expect(played.run).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'Released 1.2.',
    iterations: 5,
    totalCostUsd: 2,
  });
});

test('a no ends the run, and nothing is released', async () => {
  const played = await play(
    flow({ ...PREPARED, DECIDE: ['<result>declined: not today</result>'] }),
    { input: 'x', answers: ['No.'] },
  );
  expect(played.path()).toEqual(['START', 'GATE', 'DECIDE']);
  expect(played.run).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'declined: not today',
    totalCostUsd: 0.6,
  });
});

test('without an answer the deadline passes, and only the preparation is undone', async () => {
  const played = await play(flow({ ...PREPARED, LATE: ['<goto>RELEASE</goto> Undone.'] }), {
    input: 'x',
  });
  expect(played.path()).toEqual(['START', 'GATE', 'LATE']);
  const asked = one(played.events, 'agent-asked');
  const late = one(played.events, 'question-timed-out');
  expect(asked.deadline).toBe(asked.at + DAY);
  expect(late.at).toBeGreaterThanOrEqual(asked.at + DAY);
  // LATE reads no tags, so that nothing it writes can lead to the release.
  expect(played.run).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'not approved in time',
  });
});

test('a question of the person leads to the gate again, with a new deadline', async () => {
  const played = await play(
    flow({
      ...PREPARED,
      GATE: [ASK, ASK],
      DECIDE: ['<goto>GATE</goto>', '<result>declined</result>'],
    }),
    { input: 'x', answers: ['Which version?', 'No.'] },
  );
  expect(played.path()).toEqual(['START', 'GATE', 'DECIDE', 'GATE', 'DECIDE']);
  const deadlines = played.events.flatMap((event) =>
    event.type === 'agent-asked' ? [(event.deadline ?? 0) - event.at] : [],
  );
  expect(deadlines).toEqual([DAY, DAY]);
  expect(played.run.result).toBe('declined');
});

describe('an agent cannot pass the gate by itself', () => {
  test.each([
    ['to the release', '<call return="REPORT">RELEASE</call>'],
    ['with another deadline', '<ask next="DECIDE" timeout="1s" timeout_next="LATE">May I?</ask>'],
    ['with another state for an answer', '<ask next="RELEASE">May I?</ask>'],
    ['with the end of the run', '<result>released</result>'],
  ])('%s', async (_, forbidden) => {
    const played = await play(flow({ ...PREPARED, GATE: [forbidden, ASK], LATE: ['Undone.'] }), {
      input: 'x',
    });
    expect(played.path()).toEqual(['START', 'GATE', 'GATE', 'LATE']);
    expect(played.steps[2]?.prompt).toContain(
      '<ask next="DECIDE" timeout="24h" timeout_next="LATE">',
    );
    expect(played.steps[2]?.session).toEqual({ use: 'continue', id: played.steps[0]?.session?.id });
    expect(played.run.result).toBe('not approved in time');
  });

  test('and fails after three reminders', async () => {
    const answer = '<call return="REPORT">RELEASE</call>';
    const played = await play(flow({ ...PREPARED, GATE: () => answer }), { input: 'x' });
    expect(played.path()).toEqual(['START', 'GATE', 'GATE', 'GATE', 'GATE']);
    expect(one(played.events, 'agent-failed')).toMatchObject({
      failure: { kind: 'forbidden-transition' },
    });
    expect(played.run.status).toEqual({ kind: 'ended', outcome: 'failed' });
  });
});

test('the money ends before the question, and a resume with more of it asks', async () => {
  const stopped = await play(flow({ START: PREPARED.START }), {
    input: 'x',
    settings: { budgetUsd: 0.5 },
  });
  expect(stopped.path()).toEqual(['START']);
  expect(stopped.run.status).toEqual({ kind: 'ended', outcome: 'stopped: budget' });
  const resumed = await play(flow({ GATE: [ASK], DECIDE: ['<result>declined</result>'] }), {
    resume: stopped.run,
    settings: { budgetUsd: 5 },
    answers: ['No.'],
  });
  expect(resumed.path()).toEqual(['GATE', 'DECIDE']);
  expect(resumed.run).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'declined',
    totalCostUsd: 0.5,
  });
});
