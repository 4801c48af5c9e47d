/** A patch as lines, and the changed files as a tree. */
import type { ChangedFile } from '../../src/look/diff-shape.ts';
import type { DiffLine } from '../../src/view/line-diff.ts';

/** The lines of a patch after its head. A gap says where the next lines are. */
export function patchLines(patch: string): readonly DiffLine[] {
  const lines = patch.replace(/\n$/, '').split('\n');
  const first = lines.findIndex((line) => line.startsWith('@@ '));
  return first < 0 ? [] : lines.slice(first).flatMap(lineOf);
}

function lineOf(line: string): readonly DiffLine[] {
  const [sign, text] = [line.slice(0, 1), line.slice(1)];
  if (sign === '+') return [{ kind: 'added', text }];
  if (sign === '-') return [{ kind: 'removed', text }];
  if (sign === ' ') return [{ kind: 'same', text }];
  const [, at = '', around = ''] = /^@@ -\S+ \+(\d+)\S* @@ ?(.*)$/.exec(line) ?? [];
  if (at === '') return [{ kind: 'gap', text: line.replace(/^\\ /, '') }];
  // A new or deleted file has one part, which is the whole.
  const isWhole = /^@@ -(0,0|\S+ \+0,0)/.test(line);
  return isWhole ? [] : [{ kind: 'gap', text: `line ${at}  ${around}`.trimEnd() }];
}

export interface TreeRow {
  readonly depth: number;
  /** The name of a folder, or undefined for a file. */
  readonly folder: string | undefined;
  readonly file: ChangedFile | undefined;
  readonly name: string;
}

/** Rows in the order of the paths. Folders that contain only one folder share a row with it. */
export function treeOf(files: readonly ChangedFile[]): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  collect(files, '', 0, rows);
  return rows;
}

function collect(
  files: readonly ChangedFile[],
  base: string,
  depth: number,
  rows: TreeRow[],
): void {
  const groups = new Map<string, ChangedFile[]>();
  for (const file of files) {
    const rest = file.path.slice(base.length);
    const at = rest.indexOf('/');
    const key = at < 0 ? '' : rest.slice(0, at + 1);
    const known = groups.get(key);
    if (known) known.push(file);
    else groups.set(key, [file]);
  }
  const own = groups.get('') ?? [];
  for (const [key, inner] of groups) {
    if (key === '') continue;
    const folder = commonFolder(inner, base + key);
    rows.push({ depth, folder, file: undefined, name: folder.slice(base.length) });
    collect(inner, folder, depth + 1, rows);
  }
  for (const file of own)
    rows.push({ depth, folder: undefined, file, name: file.path.slice(base.length) });
}

function commonFolder(files: readonly ChangedFile[], folder: string): string {
  const rests = files.map(({ path }) => path.slice(folder.length));
  const at = (rests[0] ?? '').indexOf('/');
  const next = (rests[0] ?? '').slice(0, at + 1);
  if (at < 0 || !rests.every((rest) => rest.startsWith(next))) return folder;
  return commonFolder(files, folder + next);
}
