import { commandLine } from './command-line.ts';
import { reportError } from './report-error.ts';
import { keepTheDoor } from './terminal.ts';

/** The process of a command: its exit code, and its last words when it crashes. */
export async function main(argv: readonly string[]): Promise<void> {
  keepTheDoor(reportError);
  process.exitCode = await commandLine(argv);
}
