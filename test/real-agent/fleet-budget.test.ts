// The budget of a run in a database, spent by the real Claude Code on two workers.
import { expect, onTestFinished, test } from 'vitest';
import { isLong } from '../long.ts';
import { suiteAges } from './claude-sandbox.ts';
import { eventsOf, lastPrompt } from './raymond-sandbox.ts';
import { realFleet } from './real-fleet.ts';
import type { Script } from './scripted-model.ts';

const FILES = {
  'flow/START.sh': `for n in 1 2 3 4; do echo "<fork item='$n'>WORK</fork>"; done
echo '<goto>END</goto>'`,
  'flow/WORK.md': 'Work on {{item}}.',
  'flow/END.sh': "echo '<result>sent</result>'",
};

// It costs 5 USD for a million tokens of input.
const MODEL = ['--model', 'claude-opus-4-5'];
const COST = { usage: { input_tokens: 0.9 * 200_000, output_tokens: 0 } };

test.each(suiteAges)(
  'a prompt that waits for a worker does not begin when the money is gone, and a resume with more continues (%s)',
  async (age) => {
    const script: Script = () => ({ content: '<result>worked</result>', ...COST });
    const world = await realFleet(age, script, FILES, onTestFinished);
    const { fleet, model, raymond } = world;
    for (const name of ['left', 'right']) await world.worker(name, '--prompts', '1');
    const stopped = await raymond('flow', '--workflow-id', 'r', ...MODEL, '--budget', '1.00');
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toContain('stopped: budget');
    expect(stopped.stderr).toContain('raymond resume r --budget');
    const spent = async () =>
      eventsOf(await fleet.events('r'), 'step-ended').reduce((sum, { cost }) => sum + cost.usd, 0);
    // The budget, and the last call of the two prompts that ran at that moment.
    expect(await spent()).toBeLessThanOrEqual(1 + 2 * 0.9);

    if (isLong) {
      // It is still too little for another turn.
      const before = model.requests.length;
      expect(await raymond('resume', 'r', '--budget', '1.50')).toMatchObject({ code: 3 });
      expect(model.requests).toHaveLength(before);
    }

    expect(await raymond('resume', 'r', '--budget', '10')).toMatchObject({ code: 0 });
    expect(model.requests).toHaveLength(4);
    expect(await spent()).toBeCloseTo(3.6);
    expect(new Set(model.requests.map(lastPrompt)).size).toBe(4);
  },
);
