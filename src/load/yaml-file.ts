import { basename, dirname } from 'node:path';
import { readRegularFile, UnusableFile } from '../files/regular-file.ts';
import type { Agents } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { shellWord } from '../model/shell-word.ts';
import type { Source } from '../model/source.ts';
import { UserError } from '../model/user-error.ts';
import type { State } from '../model/workflow.ts';
import { MANIFEST } from '../parse/manifest.ts';
import { decodeUtf8 } from '../parse/utf8.ts';
import { isError } from '../parse/yaml-reader.ts';
import { readYamlWorkflow } from '../parse/yaml-workflow.ts';

export const MAX_YAML_BYTES = 16 * 1024 * 1024;

type YamlSource = Pick<Source, 'files' | 'about' | 'diagnostics'> & {
  readonly whole: Uint8Array;
};

/**
 * A workflow in one file. Rejects only a text in which no state can be recognised. `unsaved` is the text of an
 * editor.
 */
export async function readYamlFile(
  path: string,
  agents: Agents,
  unsaved?: Uint8Array,
): Promise<YamlSource> {
  const file = basename(path);
  const bytes = unsaved ?? (await readBytes(path));
  if (bytes.length > MAX_YAML_BYTES) throw tooLarge(path);
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) {
    throw new UserError(
      'not-utf8',
      `${file} is not UTF-8: the byte at offset ${decoded.offset} is not valid.`,
      'Save the file as UTF-8.',
      { file: path },
    );
  }
  const { states, ...rest } = readYamlWorkflow(file, decoded.text, agents);
  if (file === MANIFEST && !states?.some(hasKind)) throw onlyManifest(path);
  if (!states) throw unreadable(path, rest.diagnostics.find(isError));
  const files = states.map((state) => ({ name: state.name, content: { state } }));
  return { ...rest, files, whole: bytes };
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readRegularFile(path, MAX_YAML_BYTES);
  } catch (error) {
    throw error instanceof UnusableFile && error.code === 'TOO-LARGE' ? tooLarge(path) : error;
  }
}

function tooLarge(path: string): UserError {
  return new UserError(
    'yaml-too-large',
    `${basename(path)} is larger than ${MAX_YAML_BYTES / 1024 / 1024} MiB.`,
    'Replace it with a folder with one file for each state.',
    { file: path },
  );
}

function hasKind(state: State): boolean {
  return state.kind !== 'broken' || state.diagnostics.some(({ code }) => code !== 'no-kind');
}

function onlyManifest(path: string): UserError {
  return new UserError(
    'only-a-manifest',
    `${MANIFEST} contains no states: it describes the workflow in its folder.`,
    `Name the folder: ${shellWord(dirname(path))}`,
    { file: path },
  );
}

function unreadable(path: string, fault: Diagnostic | undefined): UserError {
  const file = basename(path);
  return new UserError(
    'bad-yaml',
    fault ? `${file}:${fault.line}:${fault.column}: ${fault.message}` : `${file} cannot be read.`,
    fault?.remedy ?? 'Correct the file at that position.',
    { file: path, line: fault?.line, column: fault?.column },
  );
}
