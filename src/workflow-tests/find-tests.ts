import { basename } from 'node:path';
import { readCompanion } from '../load/companions.ts';
import type { Agents } from '../model/agent.ts';
import { UserError } from '../model/user-error.ts';
import { optionTable } from '../options/chosen-options.ts';
import { testSettingsSchema } from '../options/option-schema.ts';
import { allChoices } from '../parse/agent-choices.ts';
import { nearest } from '../parse/nearest.ts';
import { testFileSchema, testsIn, type WorkflowTest } from '../parse/test-file.ts';
import type { NamedTest } from './run-test.ts';

/** The tests in these files, or those that are named. A part of a name is enough. */
export async function findTests(
  files: readonly string[],
  names: readonly string[],
  agents: Agents,
): Promise<readonly NamedTest[]> {
  const all = (await Promise.all(files.map((file) => readTests(file, agents)))).flat();
  for (const name of names) {
    if (all.some((test) => test.name.includes(name))) continue;
    const known = all.map((test) => test.name);
    const meant = nearest(name, known);
    throw new UserError(
      'usage',
      `The test "${name}" does not exist.`,
      meant
        ? `Did you mean "${meant}"?`
        : `Name one of these tests: ${known.map((one) => `"${one}"`).join(', ')}.`,
    );
  }
  return names.length === 0
    ? all
    : all.filter((test) => names.some((name) => test.name.includes(name)));
}

async function readTests(file: string, agents: Agents): Promise<readonly NamedTest[]> {
  const schema = testFileSchema(testSettingsSchema(optionTable({ choices: allChoices(agents) })));
  const stem = basename(file).replace(/\.test\.ya?ml$/, '');
  const read = await readCompanion(schema, file);
  const tests = read ? testsIn(read) : [];
  if (tests.some(hasTwoSources))
    throw new UserError(
      'bad-file',
      `${file} has a test with both a recording and its own answers or replies.`,
      'Keep one of them. A recording already contains all answers and replies.',
    );
  return tests.map((test, index) => ({
    name: test.name ?? (tests.length === 1 ? stem : `${stem} ${index + 1}`),
    file,
    test,
  }));
}

function hasTwoSources({ recorded, answers = {}, replies = [] }: WorkflowTest): boolean {
  return recorded !== undefined && Object.keys(answers).length + replies.length > 0;
}
