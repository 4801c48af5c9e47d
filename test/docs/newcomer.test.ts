// A newcomer follows README.md, the first chapter of the guide and the chapter about CI word for word.
// The machine has git, Node and the agent.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { NPM_PACKAGE } from '../../src/model/newer-raymond.ts';
import '../built.ts';
import { isLong } from '../long.ts';
import { lastPrompt } from '../real-agent/raymond-sandbox.ts';
import type { Reply } from '../real-agent/scripted-model.ts';
import { type ClaudeOnPath, claudeOnPath } from './claude-on-path.ts';
import { expectedPattern, normalOutput } from './console.ts';
import { readDocument, root } from './documents.ts';
import { type FreshMachine, freshMachine } from './fresh-machine.ts';
import { type ReaderStep, readerSteps } from './reader-steps.ts';

const LONG = { timeout: 300_000 };
const readme = readDocument('README.md');
const chapter = readDocument('docs/guide/getting-started.md');
const ci = readDocument('docs/guide/ci.md');

/** Each of these commands does all the set-up. */
const [example = '', tests = '', ...others] = readme.blocks
  .filter(({ language, words }) => language === 'sh' && words.includes('clone'))
  .map((block) => block.text.trim());

/** Both begin with it, so the tests do it once. */
const SET_UP = 'git clone <repository> raymond && cd raymond && npm ci && ';

/**
 * The suite gives the clone the packages and the build of this checkout, and does not build it again to pack
 * it. The check of a clean clone (.ci/run) and the long tests install the packages and build it.
 */
const ownPackages = `ln -s '${root}/node_modules' . && cp -R '${root}/dist' .`;
const asInSuite = isLong ? {} : { npm_config_ignore_scripts: 'true' };

let machine: FreshMachine;
let claude: ClaudeOnPath;
beforeAll(async () => {
  claude = await claudeOnPath((request) => reply(lastPrompt(request)));
  machine = await freshMachine({ ...claude.environment, ...asInSuite });
});
afterAll(async () => {
  await machine?.remove();
  await claude?.remove();
});

test('two commands do all the set-up', () => {
  expect(others).toEqual([]);
  for (const command of [example, tests]) expect(command.startsWith(SET_UP), command).toBe(true);
});

describe('README.md', () => {
  test('one command installs Raymond and runs an example', LONG, async () => {
    const { output, code } = await machine.run(
      isLong ? example : example.replace('npm ci', ownPackages),
    );
    expect(code, output).toBe(0);
    expect(output).toMatch(/^not ready after 2 looks$/m);
  });

  // Otherwise it does again what the check of a clean clone does with everything.
  if (isLong)
    test('the other command tests Raymond', LONG, async () => {
      // The README offers to name a folder. Here one file is enough: the others are tested already.
      expect(readme.text).toContain('`npm test -- src/parse`');
      const command = tests.slice(SET_UP.length);
      expect(command).toBe('npm test');
      const { output, code } = await machine.run(`${command} -- src/parse/tags.test.ts`);
      expect(code, output).toBe(0);
      for (const stage of ['style', 'types', 'unused code', 'build', 'tests']) {
        expect(output).toMatch(new RegExp(`^ok +${stage} `, 'm'));
      }
      expect(output).toMatch(/Tests .*\d+ passed/);
    });

  // In this order, because each step uses the files of the earlier ones.
  const first = readme.blocks.findIndex(({ language }) => language === 'console');
  test.each(readerSteps({ blocks: readme.blocks.slice(first) }))('$name', LONG, follow);

  test('the model was asked for each step of the run', () => {
    expect(claude.model.requests).toHaveLength(4);
  });
});

describe('the first chapter, in an empty project', () => {
  beforeAll(async () => {
    await machine.run(`mkdir '${machine.folder}/project' && cd '${machine.folder}/project'`);
    await machine.run('git init -q');
  });

  test.each(readerSteps(chapter))('$name', LONG, follow);

  test('the model was asked for each step of the run', () => {
    expect(claude.model.requests).toHaveLength(6);
  });
});

describe('the job of docs/guide/ci.md', () => {
  const block = ci.blocks.find(({ file }) => file?.startsWith('.github/workflows/'));
  const job: Job = parse(block?.text ?? '').jobs.nightly;
  beforeAll(async () => {
    await machine.run(`mkdir '${machine.folder}/ci' && cd '${machine.folder}/ci' && git init -q`);
    for (const { file, text } of ci.blocks) if (file !== undefined) write(file, text);
  });

  test('each step is an action of a fixed version, or commands', () => {
    for (const { name, uses, run } of job.steps) {
      expect([uses, run].filter(Boolean), name).toHaveLength(1);
      if (uses !== undefined) expect(uses).toMatch(/^actions\/[a-z-]+@v\d+$/);
    }
  });

  // The agent is installed already.
  const commands = job.steps.filter(({ name, run }) => run && name !== 'Install the agent');
  test.each(commands)('$name', LONG, async ({ run = '' }) => {
    const { output, code } = await machine.run(asOnGitHub(run));
    expect(code, output).toBe(0);
  });

  test('the agent has repaired the project, and the events are kept', () => {
    const file = (name: string) => readFileSync(join(machine.directory(), name), 'utf8');
    expect(file('answer.txt')).toBe('42\n');
    const events = file('events.jsonl').trim().split('\n');
    expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ outcome: 'completed' });
  });
});

/** The answer of the model, by a part of the prompt or of the result of a tool. */
function reply(prompt: string): Reply {
  const file_path = join(machine.folder, 'ci', 'answer.txt');
  const replies: Readonly<Record<string, Reply>> = {
    // README.md
    'at most three steps': '<goto>IMPLEMENT</goto>',
    'the open steps in `PLAN.md`': '<function return="DECIDE">REVIEW</function>',
    'for the first time': '<result>APPROVED</result>',
    'The review of your work': '<result>Empty passwords are refused.</result>',
    // The first chapter
    'Read the file notes.txt': 'I found one. <goto>FIX</goto>',
    'Correct the mistakes': '<result>corrected</result>',
    // CI: it reads the file, and writes it.
    'check.log says': { content: [{ type: 'tool_use', name: 'Read', input: { file_path } }] },
    41: { content: [{ type: 'tool_use', name: 'Write', input: { file_path, content: '42\n' } }] },
    'answer.txt': '<result>The answer was wrong by one.</result>',
  };
  // In this order: names that are numbers would come first.
  const parts = Object.keys(replies).sort((a, b) => b.length - a.length);
  const part = parts.find((part) => prompt.includes(part)) ?? '';
  return replies[part] ?? { fault: 'dropped' };
}

interface Job {
  readonly steps: readonly {
    readonly name?: string;
    readonly uses?: string;
    readonly run?: string;
  }[];
}

async function follow(step: ReaderStep): Promise<void> {
  if (step.kind === 'file') return write(step.file, step.text);
  const { output, code } = await machine.run(step.command);
  expect(code, output).toBe(0);
  const shown = normalOutput(output, { folder: join(machine.folder, 'project') });
  expect(shown).toMatch(expectedPattern(step.expected));
}

function write(file: string, text: string): void {
  const path = join(machine.directory(), file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The shell of a step stops at the first error. The package is the one that the README makes. */
function asOnGitHub(commands: string): string {
  const clone = join(machine.folder, 'raymond');
  const archive = readdirSync(clone).find((name) => name.endsWith('.tgz')) ?? '';
  expect(existsSync(join(clone, archive))).toBe(true);
  const script = commands
    .replaceAll(/\$\{\{ github\.run_id \}\}/g, '17')
    .replaceAll(NPM_PACKAGE, `'${join(clone, archive)}'`);
  return `set -e\n${script}`;
}
