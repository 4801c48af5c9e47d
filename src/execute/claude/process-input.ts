/** Writes to the standard input of a process of Claude Code, and ends it. */
import { randomUUID } from 'node:crypto';
import type { LaunchedProcess } from '../process/index.ts';
import { endSession } from './command.ts';

type Input = Pick<LaunchedProcess, 'stdin' | 'fifo'>;

export function send({ stdin, fifo }: Input, line: string): void {
  (fifo ?? stdin)?.write(line);
}

/** Claude Code then finishes its turn and exits. A FIFO has no end, so Raymond asks it to exit. */
export function endInput({ stdin, fifo }: Input): void {
  if (fifo) fifo.write(endSession(randomUUID()));
  else stdin?.end();
}
