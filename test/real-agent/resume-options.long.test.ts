// The options of a resume apply from its first step, however the run ended before.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { suiteAges } from './claude-sandbox.ts';
import {
  allowBash,
  answering,
  bash,
  conversationLines,
  eventsOf,
  killHard,
  lastPrompt,
  sandboxes,
  until,
} from './raymond-sandbox.ts';

const sandbox = sandboxes();

const [before, after] = ['claude-opus-4-5', 'claude-haiku-4-5'] as const;
const workflow = { 'START.md': 'Do one.', 'TWO.md': 'Do two.' };

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  /** The second prompt waits in a command until it is killed. The next prompt ends the run. */
  async function interruptible() {
    const world = await sandbox({
      age,
      workflow,
      script: answering({
        'Do one.': '<goto>TWO</goto>',
        'Do two.': [bash('touch begun; sleep 300'), '<result>done</result>'],
        'You were interrupted': '<result>done</result>',
        '[result': '<result>done</result>',
      }),
    });
    await allowBash(world.claude);
    const models = () => world.model.requests.map(({ model }) => model);
    const first = world.start('workflow', '--workflow-id', 'r', '--model', before);
    await until(() => existsSync(world.file('begun')));
    return { ...world, models, first };
  }

  if (isLong)
    test('a new model applies after a stop by the limit of iterations', async () => {
      const { run, model } = await sandbox({
        age,
        workflow,
        script: answering({ 'Do one.': '<goto>TWO</goto>', 'Do two.': '<result>done</result>' }),
      });
      const args = ['--workflow-id', 'r', '--model', before, '--max-iterations', '1'];
      expect(await run('workflow', ...args)).toMatchObject({ code: 3 });
      const more = ['--model', after, '--max-iterations', '9'];
      expect(await run('resume', 'r', ...more)).toMatchObject({ code: 0 });
      expect(model.requests.map((request) => request.model)).toEqual([before, after]);
    });

  if (isLong)
    test('a new model applies after a SIGTERM', async () => {
      const { first, run, models } = await interruptible();
      first.child.kill('SIGTERM');
      expect(await first.finished).toMatchObject({ code: 130 });
      expect(await run('resume', 'r', '--model', after)).toMatchObject({ code: 0 });
      expect(models()).toEqual([before, before, after]);
    });

  test('a new model applies after a crash that killed the agent', async () => {
    const { first, run, models, processes } = await interruptible();
    await killHard(first.child);
    process.kill(-(processes().at(-1) ?? 0), 'SIGKILL');
    expect(await run('resume', 'r', '--model', after)).toMatchObject({ code: 0 });
    expect(models()).toEqual([before, before, after]);
  });

  test.each([
    ['another model', ['--model', after], `the model is ${after}`],
    ['a stricter mode', ['--permission-mode', 'plan'], 'the permission mode is plan'],
    ['a smaller budget', ['--budget', '5'], 'the budget is $5.00'],
  ])('an agent that still runs is stopped for %s', async (_, flags, why) => {
    const { first, run, model, models, journal } = await interruptible();
    await killHard(first.child);
    const { code, stderr, stdout } = await run('resume', 'r', ...flags);
    expect([code, stdout]).toEqual([0, 'done\n']);
    expect(stderr).toContain(`stopped, to continue under the rules of this resume: ${why}`);
    expect(eventsOf(journal('r'), 'step-interrupted')).toMatchObject([{ repeat: 'continue' }]);
    expect(lastPrompt(model.requests.at(-1))).toContain('You were interrupted');
    expect(models().at(-1)).toBe(flags.includes('--model') ? after : before);
  });

  if (isLong)
    test('an agent that still runs is not stopped if no option is stricter', async () => {
      const { first, start, journal, model } = await interruptible();
      await killHard(first.child);
      const resumed = start('resume', 'r', '--budget', '20');
      await until(() => eventsOf(journal('r'), 'run-resumed')[0]);
      resumed.child.kill('SIGTERM');
      await resumed.finished;
      expect(resumed.stderr()).not.toContain('under the rules of this resume');
      expect(model.requests).toHaveLength(2);
    });
});

test('a step that was decided but not launched starts with the new options', async () => {
  const never = new Promise<void>(() => {});
  const items = [1, 2, 3, 4, 5, 6, 7, 8];
  const { start, run, model, journal, processes } = await sandbox({
    age: 'newer',
    workflow: {
      'START.sh': `for n in ${items.join(' ')}; do echo "<fork item='$n'>WORK</fork>"; done
echo '<goto>END</goto>'`,
      'WORK.md': 'Work on {{item}}.',
      'END.sh': "echo '<result>sent</result>'",
    },
    script: (request) =>
      request.model === before ? { content: '', after: never } : '<result>worked</result>',
  });
  const first = start('workflow', '--workflow-id', 'r', '--budget', '0', '--model', before);
  await model.arrived(1);
  await killHard(first.child);
  const begun = processes().length;
  const decided = eventsOf(journal('r'), 'step-started').filter(({ session }) => session);
  expect(decided.length).toBeGreaterThan(begun);
  const { code } = await run('resume', 'r', '--model', after);
  expect(code).toBe(0);
  const worked = model.requests
    .filter((request) => request.model === after)
    .flatMap(conversationLines);
  for (const n of items) expect(worked.join('\n')).toContain(`Work on ${n}.`);
  const underOldRules = model.requests.filter((request) => request.model === before);
  expect(underOldRules.length).toBeLessThanOrEqual(begun);
});
