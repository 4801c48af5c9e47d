/** Decides about a permission request of an agent, by the choices of the run. */
import { resolve } from 'node:path';
import { isWithin } from '../../files/regular-file.ts';
import { mayEdit, type SharedChoices } from '../agents/agent-choices.ts';
import { isHidden, type Protection, protectedBy, realOf } from '../agents/protected-files.ts';
import { type Fields, fields, list, text } from '../json.ts';

export interface Limits
  extends Pick<SharedChoices, 'permissionMode' | 'skipPermissions'>,
    Protection {
  readonly cwd: string;
}

/** `deny` is final. A person may decide about `ask`. */
type Verdict = 'allow' | 'ask' | 'deny';

export function verdict(call: Fields, limits: Limits): Verdict {
  const kind = text(call.kind) || 'other';
  const isReading = READS.includes(kind);
  if (refusedFor(call, limits) !== undefined) return 'deny';
  if (limits.skipPermissions) return 'allow';
  const homes = [limits.cwd, ...limits.opens].map(realOf);
  const paths = pathsOf(call).map((path) => realOf(resolve(limits.cwd, path)));
  const isInside = paths.every((path) => homes.some((home) => isWithin(home, path)));
  if (isReading) return isInside ? 'allow' : 'ask';
  return EDITS.includes(kind) && mayEdit(limits) && isInside && paths.length > 0 ? 'allow' : 'ask';
}

const READS = ['read', 'search', 'think'];
const EDITS = ['edit', 'delete', 'move'];

/** The protected file that the call would read or change. An edit may also move or delete whole folders. */
export function refusedFor(call: Fields, limits: Limits): string | undefined {
  const kind = text(call.kind) || 'other';
  for (const named of pathsOf(call)) {
    const path = resolve(limits.cwd, named);
    if (isHidden(path, limits)) return path;
    if (READS.includes(kind)) continue;
    const found = protectedBy(path, limits, EDITS.includes(kind));
    if (found !== undefined) return found;
  }
  return undefined;
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
