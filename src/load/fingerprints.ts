import { createHash } from 'node:crypto';
import type { Source, SourceFile } from '../model/source.ts';
import type { WorkflowFiles } from '../model/workflow-files.ts';
import { isSchemaFile } from '../parse/json-schema.ts';
import { MANIFEST } from '../parse/manifest.ts';
import { isStateFile } from '../parse/state.ts';

/**
 * The sha256 of each file of a workflow. States and the manifest each have their own. `container`, the archive or YAML file, has one for everything else in it.
 */
export function fingerprints(source: Source, container: string): WorkflowFiles {
  const own = source.files.flatMap(({ name, content }) => {
    const bytes = hasOwn(name) ? executable(content) : undefined;
    return bytes === undefined ? [] : [[name, sha256(bytes)] as const];
  });
  const rest = source.whole ?? restOf(source.files);
  return Object.fromEntries(rest ? [...own, [container, sha256(rest)]] : own);
}

/** Whether a file of a folder is a part of its workflow. */
export const hasOwn = (name: string) =>
  isStateFile(name) || isSchemaFile(name) || name === MANIFEST;

/**
 * The bytes from which a state is executed. A prompt inside a larger file has none: the container
 * covers it.
 */
function executable(content: SourceFile['content']): Uint8Array | undefined {
  if ('bytes' in content) return content.bytes;
  return 'state' in content && content.state.kind === 'script'
    ? Buffer.from(content.state.text)
    : undefined;
}

/** The names and hashes of the files that are not states, as one text. */
function restOf(files: readonly SourceFile[]): Uint8Array | undefined {
  const others = files.flatMap(({ name, content }) =>
    hasOwn(name) || !('bytes' in content) ? [] : [[name, sha256(content.bytes)]],
  );
  return others.length === 0 ? undefined : Buffer.from(JSON.stringify(others.sort()));
}

/** One digest for all files of a workflow, however they were packed. */
export function digestOf(
  files: readonly { readonly name: string; readonly bytes: Uint8Array }[],
): string {
  const rows = files.map(({ name, bytes }) => [name, sha256(bytes)] as const);
  return sha256(Buffer.from(JSON.stringify(rows.sort(([a], [b]) => (a < b ? -1 : 1)))));
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
