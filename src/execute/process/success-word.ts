/**
 * A word that only a wrapper or a witness knows. It writes the word when its command has succeeded. The
 * record of the process has the hash of the word. So if Raymond has died, others cannot turn a failure
 * into a success, even if they write into the file with the exit code.
 */
import { createHash, randomBytes } from 'node:crypto';

export function newWord(): string {
  return randomBytes(10).toString('hex');
}

export function hashOfWord(word: string): string {
  return createHash('sha256').update(word).digest('hex');
}
