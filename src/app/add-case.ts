/** Makes a case of an eval from a run: what the run began with, and what came of it. */
import { rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { commitOfMoment } from '../execute/git/variant-files.ts';
import { readFileWithin } from '../files/regular-file.ts';
import { openRun } from '../host/open-run.ts';
import { FIRST_AGENT } from '../interpret/new-run.ts';
import { evalFileOf } from '../load/companions.ts';
import { messageOf } from '../model/message-of.ts';
import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { readCheckedYaml } from '../parse/checked-yaml.ts';
import { type EvalCase, evalFileSchema } from '../parse/eval-file.ts';
import { decodeUtf8 } from '../parse/utf8.ts';
import { withCase } from '../parse/with-case.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { configuredLibrary, filesOf } from '../world/wire.ts';

export interface AddedCase {
  readonly name: string;
  readonly file: string;
  /** Sentences about what the case lacks. */
  readonly notes: readonly string[];
}

export async function addCase(
  around: Surroundings,
  path: string,
  id: string,
  name = id,
  /** Throws a UserError if the file must not be written. */
  check: (file: string) => void = () => {},
): Promise<AddedCase> {
  const library = await configuredLibrary(async () => around, around.cwd);
  const workflow = await library.load(path);
  const file = await evalFileOf(workflow.ref);
  check(file);
  const { run } = await openRun(around.store, id);
  if (run.status.kind !== 'ended')
    throw new UserError(
      'not-over',
      `${id} has not finished, so nothing has come of it yet.`,
      `Wait until it finishes, or stop it: raymond stop ${shellWord(id)}`,
    );
  const files = await filesBefore(around, run);
  const added: EvalCase = {
    name,
    ...(run.input !== undefined && { input: run.input }),
    ...(Object.keys(run.metadata).length > 0 && { set: { ...run.metadata } }),
    ...(files.commit !== undefined && { commit: files.commit }),
    ...(run.result !== undefined && { expected: run.result }),
  };
  const before = await textOf(file);
  const text = withCase(before, added);
  const read =
    text === undefined
      ? undefined
      : readCheckedYaml(evalFileSchema(tagChoices(workflow.agents)), file, text);
  if (text === undefined || !read?.ok) {
    const fault = read && !read.ok ? read.faults[0] : undefined;
    throw new UserError(
      'bad-file',
      fault ? `With this case, ${fault.message}` : `${file} cannot be read as a map with cases.`,
      fault?.remedy ?? 'Correct the file, or choose another name with --name.',
      { file },
    );
  }
  await replaceKeepingMode(file, text);
  return { name, file, notes: [...files.notes, ...(run.result === undefined ? [NO_RESULT] : [])] };
}

const NO_RESULT = 'The run has no result, so the case has no expected text.';
const MOST_BYTES = 16 * 1024 * 1024;

async function textOf(file: string): Promise<string | undefined> {
  const bytes = await readFileWithin(dirname(file), basename(file), MOST_BYTES).catch((error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new UserError(
      'unreadable',
      `${file} cannot be read: ${messageOf(error)}.`,
      'Replace it with a file that you can read.',
    );
  });
  if (bytes === undefined) return undefined;
  const decoded = decodeUtf8(bytes);
  if (decoded.ok) return decoded.text;
  throw new UserError('not-utf8', `${file} is not UTF-8.`, 'Save the file as UTF-8.');
}

/** A full disk must not cost the author the file. */
async function replaceKeepingMode(file: string, text: string): Promise<void> {
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const next = `${file}.new`;
  await writeFile(next, text, { mode, flag: 'wx' });
  await rename(next, file);
}

/** The files before the first step, as a commit. */
async function filesBefore(
  around: Surroundings,
  run: Run,
): Promise<{ readonly commit?: string; readonly notes: readonly string[] }> {
  const root = filesOf(around, run.id).rootOf(run.cwd);
  const tree = await firstTree(around, run.id);
  if (root === undefined || tree === undefined)
    return {
      notes: [
        'The files before the run are not known, so the case begins in an empty folder. Add files: or commit: to it if it needs some.',
      ],
    };
  try {
    const message = `Files before ${run.id}`;
    const files = { run: run.id, root, tree, at: run.startedAt, message };
    const { commit, isKept } = await commitOfMoment(files);
    return {
      commit,
      notes: isKept
        ? [
            `The run began with files that were not committed. ${commit} has them, in this clone only.`,
          ]
        : [],
    };
  } catch (error) {
    return {
      notes: [`The case begins in an empty folder: ${messageOf(error)}.`],
    };
  }
}

/** Undefined if a step without a record came first. */
async function firstTree(around: Surroundings, id: string): Promise<string | undefined> {
  for await (const event of around.store.events(id)) {
    if (event.type === 'files-recorded' && event.agent === FIRST_AGENT) return event.tree;
    if (event.type === 'step-ended' || event.type === 'step-failed') return undefined;
  }
  return undefined;
}
