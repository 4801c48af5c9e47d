// An eval with the real agent and a judge: the project and the run of a case stay byte for byte as they were, one
// budget holds, and after a kill the model is asked once for each prompt.
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { suiteAges } from './claude-sandbox.ts';
import { git, own } from './own-bytes.ts';
import {
  eventsOf,
  gate,
  killHard,
  lastPrompt,
  type RaymondSandbox,
  sandboxes,
  until,
} from './raymond-sandbox.ts';
import type { Answer } from './scripted-model.ts';

const sandbox = sandboxes();
const paid = (content: string): Answer => ({
  content,
  usage: { input_tokens: 10_000, output_tokens: 100 },
});

const WORKFLOW = {
  'START.md': 'Answer as before: {{input}}',
  'strict/START.md': 'Answer strictly: {{input}}',
  'scorers/JUDGE.md': 'Judge "{{output}}" for "{{task}}", which should be "{{expected}}".',
  'eval.yaml': `
variants: [{ name: strict, with: strict/START.md }]
scorers: [{ name: judge, by: scorers/JUDGE.md }]
repetitions: 2
`,
};

interface Outcome {
  readonly cost_usd: number;
  readonly runs: readonly {
    readonly id: string;
    readonly variant: string | null;
    readonly status: string;
    readonly cost_usd: number;
    readonly scores: Readonly<
      Record<string, { readonly score: number | null; readonly note: string }>
    >;
  }[];
}

/** A finished run of the workflow, and a case that was made from it. */
async function withCase(age: (typeof suiteAges)[number], held?: Promise<void>) {
  const made: RaymondSandbox = await sandbox({
    age,
    workflow: WORKFLOW,
    script: (request) => {
      const said = lastPrompt(request);
      if (said.startsWith('Judge'))
        return paid(
          `<result>${said.includes('"good"') ? '1 as it should be' : '0.25 too mild'}</result>`,
        );
      const reply = paid(`<result>${said.includes('strictly') ? 'good' : 'mild'}</result>`);
      return said.includes('strictly') && held ? { ...reply, after: held } : reply;
    },
  });
  git(made, 'init', '-q', '-b', 'main');
  git(made, 'add', '--all');
  git(made, 'commit', '-qm', 'first');
  const ran = await made.run('workflow', '--workflow-id', 'r', '--input', 'is it good?');
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  const added = await made.run('eval', 'workflow', '--add-case', 'r');
  expect(added, added.stderr).toMatchObject({ code: 0 });
  return made;
}

const LONG_MS = 300_000;

test.each(suiteAges)(
  'a case from a run is judged under two prompts, and nothing else changes, with the %s Claude Code',
  async (age) => {
    const made = await withCase(age);
    const before = own(made);
    const asked = made.model.requests.length;
    const { code, stdout, stderr } = await made.run('eval', 'workflow', '--json');
    expect(code, stderr).toBe(0);
    expect(own(made)).toEqual(before);
    const outcome: Outcome = JSON.parse(stdout);
    expect(outcome.runs).toHaveLength(4);
    for (const { variant, status, scores } of outcome.runs)
      expect({ status, scores }).toMatchObject({
        status: 'completed',
        scores: {
          judge:
            variant === null
              ? { score: 0.25, note: 'too mild' }
              : { score: 1, note: 'as it should be' },
        },
      });
    const prompts = made.model.requests.slice(asked).map((one) => lastPrompt(one));
    expect(prompts.filter((text) => text.startsWith('Answer'))).toHaveLength(4);
    expect(prompts.filter((text) => text.startsWith('Judge'))).toHaveLength(4);
    expect(prompts).toContain('Judge "good" for "is it good?", which should be "mild".');
    expect(outcome.cost_usd).toBeGreaterThan(
      outcome.runs.reduce((all, one) => all + one.cost_usd, 0),
    );

    // The same command asks nothing more.
    const again = await made.run('eval', 'workflow', '--json');
    expect(JSON.parse(again.stdout)).toEqual(outcome);
    expect(made.model.requests).toHaveLength(asked + prompts.length);
  },
  LONG_MS,
);

test.each(suiteAges)(
  'the command and a run are killed in a turn, and the model is asked once, with the %s Claude Code',
  async (age) => {
    const held = gate();
    const made = await withCase(age, held.opened);
    const before = own(made);
    const asked = made.model.requests.length;
    const args = ['eval', 'workflow', '--times', '1', '--json'];
    const first = made.start(...args);
    const strict = () =>
      made.model.requests.slice(asked).filter((one) => lastPrompt(one).includes('strictly'));
    await until(() => strict().length === 1);
    await killHard(first.child);
    const [id = ''] = runsIn(made).filter((one) =>
      eventsOf(made.journal(one), 'run-started').some(({ cell }) => cell?.variant === 'strict'),
    );
    const { pid } = JSON.parse((await made.run('show', id, '--json')).stdout);
    process.kill(pid, 'SIGKILL');
    const again = made.start(...args);
    await until(() => eventsOf(made.journal(id), 'run-resumed').length === 2);
    held.open();
    const { code, stdout, stderr } = await again.finished;
    expect(code, stderr).toBe(0);
    const outcome: Outcome = JSON.parse(stdout);
    expect(outcome.runs.map(({ scores }) => scores.judge?.score)).toEqual([0.25, 1]);
    expect(own(made)).toEqual(before);
    const prompts = made.model.requests.slice(asked).map((one) => lastPrompt(one));
    expect(prompts.filter((text) => text.startsWith('Answer'))).toHaveLength(2);
    expect(prompts.filter((text) => text.startsWith('Judge'))).toHaveLength(2);
  },
  LONG_MS,
);

test.each(suiteAges)(
  'one budget holds for all runs and scores, over several commands, with the %s Claude Code',
  async (age) => {
    const made = await withCase(age);
    const one = await made.run('eval', 'workflow', '--times', '1', '--json', '--max-parallel', '1');
    const turn = Math.max(
      ...JSON.parse(one.stdout).runs.map((run: { cost_usd: number }) => run.cost_usd),
    );
    // For the two runs and scores that exist, and hardly for one more run.
    const { cost_usd: spent } = JSON.parse(one.stdout);
    const budget = spent + 1.5 * turn;
    writeFileSync(
      made.file('workflow/eval.yaml'),
      `${await read(made)}budget_each: ${(1.4 * turn).toFixed(6)}\n`,
    );
    const asked = made.model.requests.length;
    const args = ['--times', '3', '--budget', budget.toFixed(6), '--max-parallel', '3', '--json'];
    const limited = await made.run('eval', 'workflow', ...args);
    expect(limited.code).toBe(1);
    expect(limited.stderr).toContain('the budget for all runs is spent');
    const outcome: Outcome = JSON.parse(limited.stdout);
    expect(outcome.cost_usd).toBeLessThanOrEqual(budget + turn);
    const more = made.model.requests.length - asked;
    expect(more).toBeLessThanOrEqual(4);
    // Again: everything is spent, so nothing more is asked.
    await made.run('eval', 'workflow', ...args);
    expect(made.model.requests.length - asked).toBe(more);
  },
  LONG_MS,
);

const read = async (made: RaymondSandbox) =>
  execFileSync('cat', [made.file('workflow/eval.yaml')], { encoding: 'utf8' });

const runsIn = ({ file }: RaymondSandbox) =>
  readdirSync(file('.raymond/state')).flatMap((name) =>
    name.endsWith('.jsonl') ? [name.slice(0, -6)] : [],
  );
