// Checks the cost of turns, and that a budget holds when many agents spend it.
import { describe, expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { ages, suiteAges } from './claude-sandbox.ts';
import {
  answering,
  bash,
  conversationLines,
  eventsOf,
  lastPrompt,
  type RaymondSandbox,
  sandboxes,
} from './raymond-sandbox.ts';
import type { Reply } from './scripted-model.ts';

const sandbox = sandboxes();

// Both versions know its price: 5 USD for a million tokens of input.
const model = 'claude-opus-4-5';
const costing = (usd: number) => ({ input_tokens: Math.round(usd * 200_000), output_tokens: 0 });

const three = {
  'START.sh': `for n in 1 2 3; do echo "<fork item='$n'>WORK</fork>"; done
echo '<goto>END</goto>'`,
  'WORK.md': 'Work on {{item}}.',
  'END.sh': "echo '<result>sent</result>'",
};

/** A promise for each caller that is kept when `count` have called. */
function allAtOnce(count: number): () => Promise<void> {
  let arrived = 0;
  let open = () => {};
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    arrived += 1;
    if (arrived === count) open();
    return all;
  };
}

function total({ journal }: RaymondSandbox): string {
  const costs = (['step-ended', 'step-failed', 'step-interrupted'] as const).flatMap((type) =>
    eventsOf(journal('r'), type).map(({ cost }) => cost.usd),
  );
  return costs.reduce((sum, each) => sum + each, 0).toFixed(4);
}

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('agents that are forked together start together, and each may exceed its part by one call', async () => {
    const together = allAtOnce(3);
    const world = await sandbox({
      age,
      workflow: three,
      script: (request) =>
        lastPrompt(request).startsWith('Work on')
          ? { ...bash('true'), usage: costing(0.5), after: together() }
          : { content: '<result>worked</result>', usage: costing(0.5) },
    });
    const { code, stderr } = await world.run(
      ...['workflow', '--workflow-id', 'r', '--model', model, '--budget', '1.20'],
    );
    expect(code).toBe(3);
    expect(stderr).toContain('stopped: budget');
    const parts = eventsOf(world.journal('r'), 'step-started').flatMap((e) => e.reservedUsd ?? []);
    expect(parts.slice(0, 3)).toEqual(Array(3).fill(0.4));
    expect(Number(total(world))).toBeLessThanOrEqual(1.2 + 3 * 0.5);

    expect(await world.run('resume', 'r', '--budget', '20')).toMatchObject({ code: 0 });
    expect(total(world)).toBe('3.0000');

    // A later run knows what a turn costs.
    await world.run('workflow', '--workflow-id', 'later', '--model', model, '--budget', '2.00');
    const [started] = eventsOf(world.journal('later'), 'run-started');
    expect(started?.usualTurnsUsd).toEqual({ 'WORK.md': 1 });
    const later = eventsOf(world.journal('later'), 'step-started').flatMap(
      (e) => e.reservedUsd ?? [],
    );
    expect(later.slice(0, 2)).toEqual([1, 1]);
  });

  test('a turn that uses up the budget is stopped, and continues with a larger budget', async () => {
    const world = await sandbox({
      age,
      workflow: { 'START.md': 'Work.' },
      script: (request) => {
        if (lastPrompt(request) !== 'Work.') return '<result>went on</result>';
        const content = [
          { type: 'tool_use', name: 'Bash', input: { command: 'touch made' } },
        ] as const;
        return { content, usage: costing(0.6) };
      },
    });
    const args = ['--workflow-id', 'r', '--model', model, '--budget', '0.50'];
    expect(await world.run('workflow', ...args)).toMatchObject({ code: 3 });
    expect(world.model.requests).toHaveLength(1);
    expect(Number(total(world))).toBeCloseTo(0.6, 2);
    const resumed = await world.run('resume', 'r', '--budget', '2');
    expect(resumed).toMatchObject({ code: 0, stdout: 'went on\n' });
    expect(conversationLines(world.model.requests.at(-1))[0]).toBe('user: Work.');
  });
});

// The versions count costs differently.
describe.each(ages)('with the %s Claude Code', (age) => {
  test.each(
    inSuite<{ how: string; flags: readonly string[] }>(
      [{ how: 'kept warm', flags: [] }],
      [{ how: 'one process per prompt', flags: ['--no-warm'] }],
    ),
  )('the cost of every turn is counted once ($how)', async ({ flags }) => {
    const dear = (content: string): Reply => ({ content, usage: costing(0.25) });
    const world = await sandbox({
      age,
      workflow: {
        'START.md': 'Do one.',
        'TWO.md': 'Do two.',
        'SUB.md': 'Look into it.',
        'BACK.md': `---
allowed_transitions:
  - { tag: result }
evaluators:
  - { prompt: JUDGE.md, expect: "YES", then: { tag: goto, target: START } }
---
It was {{result}}.`,
        'JUDGE.md': 'Is "{{output}}" with {{transition}} right?',
      },
      script: answering({
        'Do one.': dear('<goto>TWO</goto>'),
        'Do two.': dear('<call return="BACK">SUB</call>'),
        'Look into it.': dear('<result>found</result>'),
        'It was found.': dear('I forgot the tag.'),
        'did not end this step': dear('Sorry. <result>all done</result>'),
        'Is "': dear('<result>YES</result>'),
      }),
    });
    // At the end the remaining budget is smaller than the session's cost, and is still enough.
    const { code, stdout } = await world.run(
      ...['workflow', '--workflow-id', 'r', '--model', model, '--budget', '1.75', ...flags],
    );
    expect([code, stdout]).toEqual([0, 'all done\n']);
    const costs = eventsOf(world.journal('r'), 'step-ended').map(({ cost }) => cost.usd);
    expect(costs.map((usd) => usd.toFixed(4))).toEqual(Array(6).fill('0.2500'));
    expect(conversationLines(world.model.requests.at(-1))).toEqual([
      'user: Is "Sorry. <result>all done</result>" with <result>all done</result> right?',
    ]);
  });
});

test('a judge that objects overrides the answer, and has its own session', async () => {
  const { run, model: asked } = await sandbox({
    age: 'newer',
    workflow: {
      'START.md': `---
evaluators:
  - { prompt: JUDGE.md, expect: "YES", then: { tag: goto, target: REVISE } }
---
Do one.`,
      'JUDGE.md': 'Judge it.',
      'REVISE.md': 'Do it better.',
    },
    script: answering({
      'Do one.': '<result>sloppy</result>',
      'Judge it.': '<result>NO</result>',
      'Do it better.': '<result>better</result>',
    }),
  });
  expect(await run('workflow')).toMatchObject({ code: 0, stdout: 'better\n' });
  expect(asked.requests.map(conversationLines)).toEqual([
    ['user: Do one.'],
    ['user: Judge it.'],
    ['user: Do one.', 'assistant: <result>sloppy</result>', 'user: Do it better.'],
  ]);
});
