// An agent shows a file that it wrote, a person answers with a file, and the agent reads it.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { suiteAges } from './claude-sandbox.ts';
import { allowBash, bash, eventsOf, lastPrompt, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

const WORKFLOW = {
  'START.md': `---
allowed_transitions:
  - { tag: ask, next: NEXT }
---
Write the report.`,
  'NEXT.md': `---
allowed_transitions:
  - { tag: result }
---
The answer is {{input}}. Read what came with it.`,
};

test.each(suiteAges)('questions and answers with files, with the %s Claude Code', async (age) => {
  let turn = 0;
  let shown = '';
  const { run, file, journal, model, claude } = await sandbox({
    age,
    workflow: WORKFLOW,
    script: (request) => {
      const prompt = lastPrompt(request);
      turn += 1;
      if (turn === 1) return bash('echo all good >report.md');
      if (turn === 2) return '<ask next="NEXT" files="report.md,../secret">Ship?</ask>';
      if (turn === 3) {
        shown = prompt;
        return '<ask next="NEXT" files="report.md">Ship?</ask>';
      }
      const path = /^\/.*\/answer_files\/form\.txt$/m.exec(prompt)?.[0];
      return path ? bash(`cat '${path}'`) : `<result>${prompt}</result>`;
    },
  });
  await allowBash(claude);
  const first = await run('workflow', '--workflow-id', 'r');
  expect(first.code).toBe(2);
  // The file outside was a mistake, and the agent was told.
  expect(shown).toContain('cannot take the file "../secret"');
  writeFileSync(file('report.md'), 'changed');
  expect((await run('show', 'r', '--file', 'report.md')).stdout).toBe('all good\n');
  writeFileSync(file('form.txt'), 'signed by Ann');
  expect((await run('answer', 'r', 'yes', '--file', 'form.txt')).code).toBe(0);
  const done = await run('resume', 'r');
  expect([done.code, done.stdout.trim()]).toEqual([0, '[result signed by Ann]']);
  const prompt = model.requests.map(lastPrompt).find((text) => text.includes('The answer is yes'));
  expect(prompt).toMatch(
    /^These files came with the answer:\n\/.*\/answer_files\/form\.txt\n\nThe answer is yes\./,
  );
  expect(eventsOf(journal('r'), 'agent-reminded')).toHaveLength(1);
  expect(readFileSync(file('report.md'), 'utf8')).toBe('changed');
});
