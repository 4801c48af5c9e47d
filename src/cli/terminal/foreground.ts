import { readFileSync } from 'node:fs';

/**
 * Whether this process is in the foreground of its terminal. In the background, the shell and other
 * programs use the screen. Where this cannot be known, the answer is yes.
 */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program is in brackets, and may contain anything.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground || foreground === '-1';
  } catch {
    return true;
  }
}
