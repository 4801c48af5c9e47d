import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { program } from './program.ts';
import { usageError } from './usage-error.ts';

const QUOTES = 'or put quotes around a value with spaces.';

test.each<[readonly string[], string, string]>([
  [['lint'], 'The command lint needs the argument <workflow>.', 'See: raymond lint --help'],
  [['list', '--bogus'], 'The command list has no option --bogus.', 'See: raymond list --help'],
  [['list', '--jsno'], 'The command list has no option --jsno.', 'Did you mean --json?'],
  [
    ['list', 'x'],
    'The command list takes no argument, but "x" follows.',
    'Omit it. See: raymond list --help',
  ],
  [
    ['watch', 'a', 'b', 'c'],
    'The command watch takes 1 argument, but "b" and "c" follow.',
    `Omit them, ${QUOTES} See: raymond watch --help`,
  ],
  [
    ['start', 'a', 'b'],
    'The command start takes 1 argument, but "b" follows.',
    `Omit it, ${QUOTES} See: raymond start --help`,
  ],
  [
    ['watch', 'a', 'b c', 'd\ne', 'f', 'g', '--json'],
    'The command watch takes 1 argument, but "b c", "d e" and 2 more follow.',
    `Omit them, ${QUOTES} See: raymond watch --help`,
  ],
  [['--bogus'], 'The command run has no option --bogus.', 'See: raymond run --help'],
  [
    ['flow', 'b'],
    'The command run takes 1 argument, but "b" follows.',
    'To give it to the workflow: --input "b". Put quotes around a value with spaces. See: raymond run --help',
  ],
  [['diagram', '--run'], 'The option --run <run> needs a value.', 'See: raymond diagram --help'],
  [
    ['list', "--it's\n(Did you mean x?)"],
    "The command list has no option --it's\n(Did you mean x?).",
    'See: raymond list --help',
  ],
])('%j', async (argv, message, remedy) => {
  const raymond = program(
    () => Promise.reject(new Error('No command is reached.')),
    () => Promise.reject(new Error('No command is reached.')),
  );
  const error = await raymond.parseAsync([...argv], { from: 'user' }).catch((cause) => cause);
  if (!(error instanceof CommanderError)) throw error;
  expect(usageError(raymond, argv, error)).toMatchObject({ code: 'usage', message, remedy });
});
