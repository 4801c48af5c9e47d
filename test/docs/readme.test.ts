// The commands of README.md work as they are written, on a machine that has only git and Node.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answering } from '../real-agent/raymond-sandbox.ts';
import { type ClaudeOnPath, claudeOnPath } from './claude-on-path.ts';
import { expectedPattern, normalOutput, readConsole } from './console.ts';
import { readDocument } from './documents.ts';
import { type FreshMachine, freshMachine } from './fresh-machine.ts';

const LONG = { timeout: 300_000 };
const { blocks, text } = readDocument('README.md');

/** Each of these commands does all the set-up. */
const [example = '', tests = '', ...others] = blocks
  .filter(({ language, words }) => language === 'sh' && words.includes('clone'))
  .map((block) => block.text.trim());

/** Both begin with it, so the tests do it once. */
const SET_UP = 'git clone <repository> raymond && cd raymond && npm ci && ';

test('two commands do all the set-up', () => {
  expect(others).toEqual([]);
  for (const command of [example, tests]) expect(command.startsWith(SET_UP), command).toBe(true);
});

describe("the path from a clone to the reader's own workflow", () => {
  let machine: FreshMachine;
  let claude: ClaudeOnPath;
  beforeAll(async () => {
    claude = await claudeOnPath(
      answering({
        'at most three steps': '<goto>IMPLEMENT</goto>',
        'the open steps in `PLAN.md`': '<function return="DECIDE">REVIEW</function>',
        'for the first time': '<result>APPROVED</result>',
        'The review of your work': '<result>Empty passwords are refused.</result>',
      }),
    );
    machine = freshMachine(claude.environment);
  });
  afterAll(async () => {
    machine?.remove();
    await claude?.remove();
  });

  test('one command installs Raymond and runs an example', LONG, async () => {
    const { output, code } = await machine.run(example);
    expect(code, output).toBe(0);
    expect(output).toMatch(/^not ready after 2 looks$/m);
  });

  test('the other command tests Raymond', LONG, async () => {
    // The README offers to name a folder. Here one file is enough: the others are tested already.
    expect(text).toContain('`npm test -- src/parse`');
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
  test.each<PathStep>(stepsOfPath())(
    '$name',
    LONG,
    async ({ file, written, command, expected }) => {
      if (file !== undefined) {
        writeFileSync(join(machine.directory(), file), written);
        return;
      }
      const { output, code } = await machine.run(command);
      expect(code, output).toBe(0);
      const shown = normalOutput(output, { folder: join(machine.folder, 'project') });
      expect(shown).toMatch(expectedPattern(expected));
    },
  );

  test('the model was asked for each step of the run', () => {
    expect(claude.model.requests).toHaveLength(4);
  });
});

/** A file to write, or a command to enter. */
interface PathStep {
  readonly name: string;
  readonly file?: string;
  readonly written: string;
  readonly command: string;
  readonly expected: readonly string[];
}

/** The steps of a reader, from the first console block on. */
function stepsOfPath(): readonly PathStep[] {
  const first = blocks.findIndex(({ language }) => language === 'console');
  return blocks.slice(first).flatMap(({ language, file, text: written }): PathStep[] => {
    if (file !== undefined) {
      return [{ name: `writes ${file}`, file, written, command: '', expected: [] }];
    }
    if (language !== 'console') return [];
    return readConsole(written).map(({ command, expected }) => ({
      name: `$ ${command}`,
      written,
      command,
      expected,
    }));
  });
}
