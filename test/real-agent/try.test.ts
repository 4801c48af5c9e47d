// Variants of a run with the real agent: each remembers what the run knew at the moment, and the run keeps its
// journal, files, branches and conversation byte for byte.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { suiteAges } from './claude-sandbox.ts';
import { git, own } from './own-bytes.ts';
import {
  conversationLines,
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
const usage = { input_tokens: 10_000, output_tokens: 100 };
const paid = (content: string): Answer => ({ content, usage });
const writing = (path: string, content: string): Answer => ({
  content: [{ type: 'tool_use', name: 'Write', input: { file_path: path, content } }],
  usage,
});

interface Variant {
  readonly id: string;
  readonly status: string;
  readonly result: { readonly text: string } | null;
  readonly branch: string | null;
  readonly worktree: string | null;
  readonly cost_usd: number;
}

const variantsIn = (stdout: string): readonly Variant[] => JSON.parse(stdout).moments[0].variants;

const WORKFLOW = {
  'START.md': 'Write the draft.',
  'REVIEW.md': 'Review it as before.',
  'END.md': 'Finish.',
};

/** A finished run: the draft was reviewed in the conversation that wrote it. */
async function finished(age: (typeof suiteAges)[number], held?: Promise<void>) {
  const made: RaymondSandbox = await sandbox({
    age,
    workflow: WORKFLOW,
    script: (request) => {
      const said = lastPrompt(request);
      const folder = /You now work in (\S+)\. /.exec(JSON.stringify(request))?.[1];
      const file = (name: string) => `${folder ?? made.claude.work}/${name}`;
      if (said === 'Write the draft.') return writing(file('draft'), 'first');
      if (said.includes('Review it')) {
        const reply = writing(file('review'), said.includes('strictly') ? 'strict' : 'mild');
        return folder !== undefined && held ? { ...reply, after: held } : reply;
      }
      if (said.includes('Finish.')) return paid('<result>done</result>');
      return paid(said.includes('draft') ? '<goto>REVIEW</goto>' : '<goto>END</goto>');
    },
  });
  git(made, 'init', '-q', '-b', 'main');
  writeFileSync(made.file('.gitignore'), 'ignored\n');
  git(made, 'add', '--all');
  git(made, 'commit', '-qm', 'first');
  writeFileSync(made.file('mine'), 'untracked');
  expect(await made.run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 0 });
  writeFileSync(made.file('strict.md'), 'Review it strictly.');
  return made;
}

const LONG_MS = 300_000;

test.each(suiteAges)(
  'variants continue the conversation and the files of the moment, with the %s Claude Code',
  async (age) => {
    const made = await finished(age);
    const { run, model, file, journal } = made;
    const asked = model.requests.length;
    const before = own(made);
    const args = ['--at', 'main:2', '--with', 'REVIEW=strict.md', '--times', '2', '--json'];
    const { code, stdout, stderr } = await run('try', 'r', ...args);
    expect(code, stderr).toBe(0);
    expect(own(made)).toEqual(before);

    const variants = variantsIn(stdout);
    expect(variants).toHaveLength(2);
    for (const { id, worktree, cost_usd: cost, ...variant } of variants) {
      expect(variant).toMatchObject({ status: 'completed', result: { text: 'done' } });
      const text = (name: string) => readFileSync(`${worktree}/${name}`, 'utf8');
      expect([text('draft'), text('review'), text('mine')]).toEqual([
        'first',
        'strict',
        'untracked',
      ]);
      // What the run paid is not paid again.
      const costs = eventsOf(journal(id), 'step-ended').map((event) => event.cost.usd);
      expect(costs).toHaveLength(2);
      expect(cost).toBeCloseTo(
        costs.reduce((all, one) => all + one, 0),
        5,
      );
      expect(Math.max(...costs)).toBeLessThan(2 * Math.min(...costs) + 0.001);
      expect(eventsOf(journal(id), 'step-started')[0]?.session).toMatchObject({ use: 'branch' });
    }
    expect(existsSync(file('review'))).toBe(true);
    expect(readFileSync(file('review'), 'utf8')).toBe('mild');

    // The model saw the conversation up to the moment, where it works now, and the new prompt.
    const first = model.requests.slice(asked).find((one) => lastPrompt(one).includes('strictly'));
    const lines = conversationLines(first);
    expect(lines[0]).toContain('Write the draft.');
    expect(lines.join('\n')).not.toContain('as before');
    expect(lines.at(-1)).toMatch(/You now work in .*Review it strictly\./s);

    // Adopting is an ordinary merge, once the files of the run itself are out of the way.
    git(made, 'stash', '--include-untracked', '--quiet');
    git(made, 'merge', '--quiet', variants[0]?.branch ?? '');
    expect(readFileSync(file('review'), 'utf8')).toBe('strict');
  },
  LONG_MS,
);

test.each(suiteAges)(
  'the process of a variant is killed in its turn, and the turn is adopted, with the %s Claude Code',
  async (age) => {
    const held = gate();
    const made = await finished(age, held.opened);
    const { start, run, model, journal, claude } = made;
    const before = own(made);
    const args = ['--at', 'main:2', '--with', 'REVIEW=strict.md', '--json'];
    const asked = model.requests.length;
    const trying = start('try', 'r', ...args);
    await model.arrived(asked + 1);
    await killHard(trying.child);
    const id = idOfVariant(claude.work);
    const owner = async () => JSON.parse((await run('show', id, '--json')).stdout).pid;
    const pid: number = await owner();
    process.kill(pid, 'SIGKILL');
    const again = start('try', 'r', ...args);
    await until(() => eventsOf(journal(id), 'run-resumed').length === 2);
    held.open();
    const { code, stdout, stderr } = await again.finished;
    expect(code, stderr).toBe(0);
    expect(variantsIn(stdout)).toMatchObject([{ id: id, status: 'completed' }]);
    expect(own(made)).toEqual(before);
    const prompts = model.requests.slice(asked).map((one) => lastPrompt(one));
    expect(prompts.filter((text) => text.includes('strictly'))).toHaveLength(1);
  },
  LONG_MS,
);

function idOfVariant(work: string): string {
  const names = execFileSync('ls', [`${work}/.raymond/state`], { encoding: 'utf8' });
  const id = /^(workflow-[0-9a-f]{8})\.jsonl$/m.exec(names)?.[1];
  if (id === undefined) throw new Error('There is no variant.');
  return id;
}
