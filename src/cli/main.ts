import { commandLine, wantsJson } from './command-line.ts';
import { reportError } from './terminal/report-error.ts';
import { keepTheDoor } from './terminal/terminal.ts';

/** The process of a command: its exit code, and its last words when it crashes. */
export async function main(argv: readonly string[]): Promise<void> {
  keepTheDoor((error) => reportError(error, wantsJson(argv)));
  // Node ends a process that has nothing to wait for, even in the middle of a command.
  process.exitCode = UNFINISHED;
  process.exitCode = await commandLine(argv);
}

/** As Node reports a module that never finishes. */
const UNFINISHED = 13;
