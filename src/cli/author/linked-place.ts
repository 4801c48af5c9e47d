/** A project may contain links, but a command must write only where the user said. */
import { lstatSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isWithin } from '../../files/regular-file.ts';
import { UserError } from '../../model/user-error.ts';
import { realPath } from '../../options/leads-out.ts';

/** Throws a UserError if a place in the working directory leads out of it, or if another place is a link. */
export function refuseLinkedPlace(named: string, cwd = process.cwd()): void {
  const path = resolve(cwd, named);
  const real = realPath(path);
  const isLinked = isWithin(cwd, path)
    ? real === undefined || !isWithin(realpathSync(cwd), real)
    : real !== path && isLink(path);
  if (isLinked)
    throw new UserError(
      'linked',
      `${path} is or contains a link to another place${real === undefined ? '' : `, ${real}`}. Nothing was written.`,
      'Name that place itself, or remove the link.',
      { file: path },
    );
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
