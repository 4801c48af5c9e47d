import { displaced } from '../files/own-file.ts';
import type { Live } from '../ports.ts';
import type { LaunchedProcess } from './process/index.ts';

/**
 * Whether the output of a process is no longer where Raymond made it. Its open file is still read, but
 * the person has to know. They are told once, however many turns the process takes.
 */
export function isDisplaced(launched: LaunchedProcess, live: (live: Live) => void): boolean {
  const { identity, stdout, stderr } = launched;
  // A process that never began has no files.
  const problems = identity ? [displaced(stdout), displaced(stderr)].filter(isText) : [];
  if (problems.length === 0) return false;
  if (!told.has(launched)) for (const text of problems) live({ kind: 'warning', text });
  told.add(launched);
  return true;
}

const told = new WeakSet<LaunchedProcess>();

const isText = (text: string | undefined): text is string => text !== undefined;
