/** Decides about a permission request of an agent, by the choices of the run. */
import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { mayEdit, type SharedChoices } from '../agent-choices.ts';
import { type Fields, fields, list, text } from '../json.ts';
import type { ProtectedFiles } from '../protected-files.ts';

export interface Limits
  extends Pick<SharedChoices, 'permissionMode' | 'skipPermissions'>,
    ProtectedFiles {
  readonly cwd: string;
}

/** `deny` is final. A person may decide about `ask`. */
export type Verdict = 'allow' | 'ask' | 'deny';

export function verdict(call: Fields, limits: Limits): Verdict {
  const kind = text(call.kind) || 'other';
  const paths = pathsOf(call).map((path) => realOf(resolve(limits.cwd, path)));
  const isReading = ['read', 'search', 'think'].includes(kind);
  if (!isReading && paths.some((path) => isProtected(path, limits))) return 'deny';
  if (limits.skipPermissions) return 'allow';
  const home = realOf(limits.cwd);
  const isInside = paths.every((path) => isWithin(path, home));
  if (isReading) return isInside ? 'allow' : 'ask';
  const isEdit = ['edit', 'delete', 'move'].includes(kind);
  return isEdit && mayEdit(limits) && isInside && paths.length > 0 ? 'allow' : 'ask';
}

/** The files that the call names: those that it says, those of its changes, and its arguments. */
function pathsOf(call: Fields): readonly string[] {
  const named = list(call.locations).map((location) => text(fields(location).path));
  const changed = list(call.content).map((part) => text(fields(part).path));
  const input = fields(call.rawInput);
  const given = PATH_NAMES.map((name) => text(input[name]));
  return [...named, ...changed, ...given].filter((path) => path !== '');
}

const PATH_NAMES = ['path', 'filepath', 'filePath', 'file_path', 'notebook_path', 'absolute_path'];

function isProtected(path: string, { protects, opens }: Limits): boolean {
  if (opens.some((open) => isWithin(path, realOf(open)))) return false;
  return protects.some((one) => isWithin(path, realOf(one)));
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

/** With the links resolved of what exists of it. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOf(parent), basename(path));
  }
}
