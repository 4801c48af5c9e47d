/**
 * A text as one word of a command that a person may copy: a name in it can neither end the word nor
 * begin another command.
 */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}\p{M}_@%+:,./][\p{L}\p{N}\p{M}_@%+=:,./-]*$/u.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}
