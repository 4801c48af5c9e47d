// The commands of docs/guide/three-workflows.md, with the real agent and a scripted model.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModelRequest } from '../real-agent/model-request.ts';
import { bash } from '../real-agent/raymond-sandbox.ts';
import type { Reply } from '../real-agent/scripted-model.ts';
import { type ClaudeOnPath, claudeOnPath } from './claude-on-path.ts';
import { testConsoles } from './console.ts';
import { readDocument } from './documents.ts';
import { type DocumentProject, makeDocumentProject } from './project.ts';

const document = readDocument('docs/guide/three-workflows.md');

describe('three workflows', () => {
  let claude: ClaudeOnPath;
  let reader: DocumentProject;
  beforeAll(async () => {
    claude = await claudeOnPath(reply);
    reader = makeDocumentProject(document, claude.environment);
  });
  afterAll(async () => {
    await reader?.remove();
    await claude?.remove();
  });

  testConsoles(document.blocks, () => reader);

  test('the reviewer saw the change, and an agent was reminded to commit', () => {
    const asked = JSON.stringify(claude.model.requests.map(({ messages }) => messages));
    expect(asked).toContain('+Hello, world');
    expect(asked).toContain('Commit your change.');
  });
});

/** What the model does for a prompt: a command of its shell, and its words when that has ended. */
const WORK: readonly (readonly [sign: string, command: string | undefined, words: string])[] = [
  ['A review says', `echo 'Hello, world!' >greeting.txt`, FUNCTION('REVIEW')],
  ['The task: Greet', 'cat greeting.txt', '<ask next="GATE">1. Greet. Shall I do it?</ask>'],
  ['Carry out the plan', `echo 'Hello, world' >greeting.txt`, FUNCTION('REVIEW')],
  ['Commit your change.', 'git commit -qam "Add a title"', '<result>Two</result>'],
  ['has a conflict in', RESOLVE(), '<goto>MERGE</goto>'],
  ['Update versions.txt', 'cp newest.txt versions.txt', '<goto>GATE</goto>'],
];

function reply(request: ModelRequest): Reply {
  const { prompt, results } = sinceLastPrompt(request);
  if (prompt.includes('You see this change')) {
    if (results.length === 0) return bash('git diff');
    const isDone = results.some((text) => text.includes('Hello, world!'));
    return isDone ? '<result>APPROVED</result>' : '<result>No exclamation mark.</result>';
  }
  const [, name] = /Give notes\/(\w+)\.md a title/.exec(prompt) ?? [];
  if (name !== undefined)
    return results.length === 0 ? bash(titled(name)) : `<result>${name}</result>`;
  const [, command, words] = WORK.find(([sign]) => prompt.includes(sign)) ?? [];
  if (command === undefined || words === undefined) throw new Error(`No reply for: ${prompt}`);
  return results.length === 0 ? bash(command) : words;
}

/** The agent of the second file forgets to commit, until it is reminded. */
function titled(name: string): string {
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const change = `sed -i '1i # ${title}' notes/${name}.md && sed -i 's|notes/${name}.md|${title}|' INDEX.md`;
  return name === 'two' ? change : `${change} && git commit -qam 'Title of ${name}'`;
}

function FUNCTION(target: string): string {
  return `<function return="DECIDE">${target}</function>`;
}

function RESOLVE(): string {
  return `sed -i -e '/^<<<<<<</d' -e '/^=======/d' -e '/^>>>>>>>/d' -e '/notes.five/d' -e 's|Five and notes/six.md|Five and Six|' INDEX.md`;
}

/** The last prompt of Raymond, and the results of the tools that were used since then. */
function sinceLastPrompt({ messages }: ModelRequest) {
  let prompt = '';
  let results: string[] = [];
  for (const { role, content } of messages) {
    if (role !== 'user') continue;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const used = blocks.filter(({ type }) => type === 'tool_result');
    if (used.length > 0) results.push(...used.map((one) => JSON.stringify(one)));
    else [prompt, results] = [blocks.map(({ text }) => text ?? '').join('\n'), []];
  }
  return { prompt, results };
}
