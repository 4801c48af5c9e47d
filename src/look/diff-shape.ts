/** The files that a run, an agent or a step has changed. */
import * as z from 'zod/mini';
import { count, listOf, orNull, text } from './common.ts';

export const changedFile = z.object({
  path: text.check(
    z.describe('Below the folder. Names that are no UTF-8 have replacement characters.'),
  ),
  was: orNull(text).check(z.describe('The former path of a moved file.')),
  kind: z.enum(['added', 'changed', 'deleted', 'moved']),
  added: count.check(z.describe('The number of lines.')),
  removed: count,
  patch: orNull(text).check(z.describe('In the format of `git diff`. Null if it is left out.')),
  omitted: orNull(z.enum(['binary', 'large', 'many'])).check(
    z.describe('Why the patch is left out: no text, too large, or after too many others.'),
  ),
});

export const changedFolder = z.object({
  folder: text.check(z.describe('The root of the working tree.')),
  branch: orNull(text).check(z.describe('The branch, if it is the worktree of a child agent.')),
  merged: orNull(z.boolean()).check(
    z.describe(
      'Whether the HEAD of the repository has the commits of that branch; null if unknown.',
    ),
  ),
  agents: listOf(text).check(z.describe('Those that worked in it.')),
  others: listOf(text).check(
    z.describe('Agents that worked in it at the same time, so their changes may be included.'),
  ),
  files: listOf(changedFile).check(z.describe('Sorted by their paths.')),
  more: count.check(z.describe('The number of further files.')),
  problem: orNull(text).check(z.describe('Why its files cannot be compared.')),
});

export const diffShape = z.object({
  run: text,
  agent: orNull(text),
  step: orNull(count),
  folders: listOf(changedFolder),
  recorded: count.check(z.describe('The number of steps with records of their files.')),
  unrecorded: count.check(
    z.describe('The number of steps without: in no repository, or short scripts.'),
  ),
  running: count.check(z.describe('The number of steps that are not over. They are not included.')),
});

export type ChangedFile = z.infer<typeof changedFile>;
export type ChangedFolder = z.infer<typeof changedFolder>;
export type Diff = z.infer<typeof diffShape>;
