import { type Command, CommanderError } from 'commander';
import type { Outside } from '../world/surroundings.ts';
import { mistakenCommand } from './mistaken-command.ts';
import { refuseOptionAsValue } from './option-as-value.ts';
import { program } from './program.ts';
import { reportError, USAGE } from './terminal/report-error.ts';
import { stderr } from './terminal/terminal.ts';
import { usageError } from './usage-error.ts';

/** Executes a command line and returns its exit code. Tests replace parts of it with `outside`. */
export async function commandLine(argv: readonly string[], outside: Outside = {}): Promise<number> {
  let code = 0;
  let database = takeDatabase();
  const environment = { ...process.env };
  const here = async () => {
    const { surroundings } = await import('../world/surroundings.ts');
    const around = await surroundings({ database, environment, report: stderr.say, ...outside });
    // No process that Raymond starts may see what opens the database of its runs.
    if (around.databaseUrl !== undefined)
      (await import('../postgres/variables.ts')).takeVariables(process.env);
    return around;
  };
  const raymond = program(here, async (command) => {
    code = await command;
  });
  raymond.hook('preAction', (_, action) => {
    database = action.opts().database ?? database;
  });
  try {
    if (argv.length === 0) return await showHelp(raymond);
    refuseOptionAsValue(raymond, argv);
    await raymond.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    // Help and version end with an "error" that has the exit code 0.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const cause = mistakenCommand(raymond, argv, error);
    const shown = cause instanceof CommanderError ? usageError(raymond, argv, cause) : cause;
    return reportError(shown, wantsJson(argv));
  }
}

/** No process that Raymond starts may see it: it can contain a password. */
function takeDatabase(): string | undefined {
  const { RAYMOND_DATABASE: url } = process.env;
  delete process.env.RAYMOND_DATABASE;
  return url;
}

/** Whether errors are also printed as JSON. Known even if the line cannot be parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  // There it names a file, and a script must not print the error of its tag.
  if (words.find((word) => !word.startsWith('-')) === 'tag') return false;
  return words.lastIndexOf('--json') > words.lastIndexOf('--no-json');
}

/** On standard error, and with the code of wrong usage: a script that lost its argument must notice. */
async function showHelp(raymond: Command): Promise<number> {
  await stderr.document(raymond.helpInformation());
  return USAGE;
}
