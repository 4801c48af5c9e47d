import { basename } from 'node:path';
import { readCompanion } from '../load/companions.ts';
import { UserError } from '../model/user-error.ts';
import { nearest } from '../parse/nearest.ts';
import { testFileSchema, testsIn, type WorkflowTest } from '../parse/test-file.ts';
import type { NamedTest } from './run-test.ts';

/** The tests in these files; those that are named, when some are. A part of a name is enough. */
export async function findTests(
  files: readonly string[],
  names: readonly string[],
): Promise<readonly NamedTest[]> {
  const all = (await Promise.all(files.map(readTests))).flat();
  for (const name of names) {
    if (all.some((test) => test.name.includes(name))) continue;
    const known = all.map((test) => test.name);
    const meant = nearest(name, known);
    throw new UserError(
      'usage',
      `There is no test "${name}".`,
      meant ? `Did you mean "${meant}"?` : `There is ${known.map((one) => `"${one}"`).join(', ')}.`,
    );
  }
  return names.length === 0
    ? all
    : all.filter((test) => names.some((name) => test.name.includes(name)));
}

async function readTests(file: string): Promise<readonly NamedTest[]> {
  const stem = basename(file).replace(/\.test\.ya?ml$/, '');
  const read = await readCompanion(testFileSchema, file);
  const tests = read ? testsIn(read) : [];
  if (tests.some(saysTwice))
    throw new UserError(
      'bad-file',
      `${file} has a test with a recording and with answers or replies of its own.`,
      'Keep one: a recording says everything that comes in.',
    );
  return tests.map((test, index) => ({
    name: test.name ?? (tests.length === 1 ? stem : `${stem} ${index + 1}`),
    file,
    test,
  }));
}

function saysTwice({ recorded, answers = {}, replies = [] }: WorkflowTest): boolean {
  return recorded !== undefined && Object.keys(answers).length + replies.length > 0;
}
