import { randomBytes } from 'node:crypto';
import { UserError } from '../model/user-error.ts';

const MAX_CHARACTERS = 100;
/** A file name may have 255 bytes, including its extension. */
const MAX_BYTES = 200;

/** `{workflow name}-{8 hex}`, without characters that a file name cannot have. */
export function newRunId(workflowName: string): string {
  return runIdWith(workflowName, randomBytes(4).toString('hex'));
}

/** The id with these last digits. */
export function runIdWith(workflowName: string, hex: string): string {
  const safe = PLAIN.test(workflowName) ? workflowName : withoutUnsafe(workflowName);
  return `${shortened(safe) || 'run'}-${hex}`;
}

/** Most names and ids are. The classes of all letters delay every start. */
const PLAIN = /^\w(?:[\w.-]*\w)?$/;

function withoutUnsafe(name: string): string {
  return name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}_]+|[.-]+$/gu, '');
}

/** The normalised id. Throws a UserError for an invalid one. An id is never a path. */
export function checkRunId(text: string): string {
  const id = text.normalize('NFC');
  if (isRunId(id)) return id;
  throw new UserError(
    'bad-run-id',
    `${JSON.stringify(text)} is not a valid id of a run.`,
    `Use at most ${MAX_CHARACTERS} letters, digits, ".", "_" and "-". Begin with a letter, a digit or "_".`,
  );
}

/** Such a name needs no quotes in any shell. */
export function isRunId(id: string): boolean {
  if (id.length <= MAX_CHARACTERS && PLAIN.test(id)) return true;
  return (
    Buffer.byteLength(id) <= MAX_BYTES &&
    [...id].length <= MAX_CHARACTERS &&
    /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}._-]*$/u.test(id) &&
    !id.endsWith('.')
  );
}

function shortened(name: string): string {
  let short = '';
  for (const character of name) {
    if (Buffer.byteLength(short + character) > 90) break;
    short += character;
  }
  return short;
}
