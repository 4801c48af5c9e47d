// The commands of docs/guide/skills.md: the real agent uses the skill, and the workflow of the skill
// uses the real agent.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { history, type ModelRequest } from '../real-agent/model-request.ts';
import { bash, lastPrompt } from '../real-agent/raymond-sandbox.ts';
import type { Reply } from '../real-agent/scripted-model.ts';
import { type ClaudeOnPath, claudeOnPath } from './claude-on-path.ts';
import { testConsoles } from './console.ts';
import { readDocument } from './documents.ts';
import { type DocumentProject, makeDocumentProject } from './project.ts';

const document = readDocument('docs/guide/skills.md');
let claude: ClaudeOnPath;
let reader: DocumentProject;
beforeAll(async () => {
  claude = await claudeOnPath(reply);
  reader = makeDocumentProject(document, claude.environment);
  const project = { scripts: { test: 'test -e login.test.txt' } };
  writeFileSync(join(reader.folder, 'package.json'), JSON.stringify(project));
});
afterAll(async () => {
  await reader?.remove();
  await claude?.remove();
});

testConsoles(document.blocks, () => reader);

test('Claude received the skill, and the run has ended', async () => {
  const asked = history(claude.model.requests[0] ?? never()).map(({ text }) => text);
  expect(asked.join('\n')).toContain('The task: Refuse empty passwords');
  expect(asked.join('\n')).toContain(`${reader.folder}/.claude/skills/until-green/workflow`);
  const { output } = await reader.run('raymond show', 0);
  expect(output).toContain('Empty passwords are refused.');
  expect(readFileSync(join(reader.folder, 'login.test.txt'), 'utf8')).toBe('tested\n');
});

/** Claude follows the skill. The agents of the workflow write a test, and approve it. */
function reply(request: ModelRequest): Reply {
  const prompt = lastPrompt(request);
  const workflow = `${reader.folder}/.claude/skills/until-green/workflow`;
  const start = `raymond ${workflow} --input "Refuse empty passwords" --budget 5 --detach`;
  const run = /workflow-[0-9a-f]{8}/.exec(prompt)?.[0] ?? '';
  const write = {
    type: 'tool_use',
    name: 'Write',
    input: { file_path: join(reader.folder, 'login.test.txt'), content: 'tested\n' },
  } as const;
  const replies: readonly (readonly [string, Reply])[] = [
    ['Do not work on it yourself', bash(start)],
    ['Write a test that shows what is missing', { content: [write] }],
    ['You see this change for the first time', '<result>APPROVED</result>'],
    ['The review of your work', '<result>Empty passwords are refused.</result>'],
    ['login.test.txt', '<function return="DECIDE">REVIEW</function>'],
    [
      `${run}: completed`,
      `The run ${run} has completed. Empty passwords are refused now, and a test shows it.`,
    ],
    [run, bash(`raymond logs ${run} -f >/dev/null && raymond show ${run}`)],
  ];
  const found = replies.find(([part]) => prompt.includes(part));
  return found?.[1] ?? never();
}

function never(): never {
  throw new Error('The model has no reply.');
}
