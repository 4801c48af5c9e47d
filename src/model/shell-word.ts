/**
 * Quotes a text as one word of a command that a user may copy. A name in it can neither end the
 * word nor start another command.
 */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}\p{M}_@%+:,./][\p{L}\p{N}\p{M}_@%+=:,./-]*$/u.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}
