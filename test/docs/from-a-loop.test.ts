// The commands of docs/guide/from-a-loop.md, with the real agent and a scripted model.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { history } from '../real-agent/model-request.ts';
import type { Block, Reply } from '../real-agent/scripted-model.ts';
import { type ClaudeOnPath, claudeOnPath } from './claude-on-path.ts';
import { testConsoles } from './console.ts';
import { readDocument } from './documents.ts';
import { type DocumentProject, makeDocumentProject } from './project.ts';

const document = readDocument('docs/guide/from-a-loop.md');

describe('from a loop to a workflow', () => {
  let claude: ClaudeOnPath;
  let reader: DocumentProject;
  beforeAll(async () => {
    claude = await claudeOnPath((_, turn) => replies(reader.folder)[turn] ?? 'No item is open.');
    reader = makeDocumentProject(document, claude.environment);
  });
  afterAll(async () => {
    await reader?.remove();
    await claude?.remove();
  });

  testConsoles(document.blocks, () => reader);

  test('all replies of the model were used', () => {
    expect(claude.model.requests).toHaveLength(replies('').length);
  });

  test('the first loop repeats its prompt in a new conversation until it is killed', async () => {
    const loop = document.blocks.find(({ words }) => words.includes('endless'))?.text ?? '';
    const { model, environment } = claude;
    const before = model.requests.length;
    const child = spawn('/bin/bash', ['-c', loop], {
      cwd: reader.folder,
      env: { ...environment, PATH: `${environment.PATH}:/usr/bin:/bin` },
      stdio: 'ignore',
      detached: true,
    });
    try {
      for (const round of [1, 2]) {
        const asked = history(await model.arrived(before + round));
        expect(asked.map(({ role }) => role)).toEqual(['user']);
        expect(asked[0]?.text).toContain('Do the first open item');
      }
    } finally {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    }
  });
});

/** The model does one item in each round of the document. */
function replies(folder: string): readonly Reply[] {
  const english = (text: string) => [
    use(['Read', 'TODO.md']),
    use(['Write', 'greeting.txt', 'Hello\n'], ['Edit', 'TODO.md', 'English']),
    text,
  ];
  const french = (text: string) => [
    use(['Read', 'TODO.md'], ['Read', 'greeting.txt']),
    use(['Write', 'greeting.txt', 'Hello\nBonjour\n'], ['Edit', 'TODO.md', 'French']),
    text,
  ];
  return [
    // The loop in the shell.
    ...english('The English greeting is written.'),
    ...french('The French greeting is written.'),
    // The same loop as a workflow.
    ...english('<reset>START</reset>'),
    ...french('<result>Two greetings are written.</result>'),
    // The workflow with a check: the first result comes too early.
    ...english('<result>Two greetings are written.</result>'),
    ...french('<result>Two greetings are written.</result>'),
  ];

  function use(...uses: readonly (readonly [string, string, string?])[]): Reply {
    return { content: uses.map(([name, file, text]) => toolUse(name, join(folder, file), text)) };
  }
}

function toolUse(name: string, file_path: string, text = ''): Block {
  const input = {
    Read: { file_path },
    Write: { file_path, content: text },
    Edit: { file_path, old_string: `[ ] Greet in ${text}`, new_string: `[x] Greet in ${text}` },
  }[name];
  if (input === undefined) throw new Error(`There is no tool ${name}.`);
  return { type: 'tool_use', name, input };
}
