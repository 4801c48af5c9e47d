import { commandLine, wantsJson } from './command-line.ts';
import { reportError } from './terminal/report-error.ts';
import { keepTheDoor } from './terminal/terminal.ts';

/** The process of a command: its exit code, and its report when it crashes. */
export async function main(argv: readonly string[]): Promise<void> {
  keepTheDoor((error) => reportError(error, wantsJson(argv)));
  // Node exits when nothing is pending, even in the middle of a command.
  process.exitCode = UNFINISHED;
  process.exitCode = await commandLine(argv);
}

/** The code with which Node reports a module that never finishes. */
const UNFINISHED = 13;
