import { expect, test } from 'vitest';
import { EXAMPLES } from './help.ts';
import { program } from './program.ts';

const raymond = program(
  () => Promise.reject(new Error('Only the help is read.')),
  async () => {},
);
const visible = raymond.createHelp().visibleCommands(raymond);
const own = visible.filter((command) => command.name() !== 'help');

function helpOf(command: typeof raymond, helpWidth: number): string {
  command.configureHelp({ ...command.configureHelp(), helpWidth });
  return command.helpInformation();
}

test('the commands are grouped by task, and the options for a first run are there', () => {
  const help = helpOf(raymond, 80);
  const titles = [...help.matchAll(/^(\S.*):$/gm)].map(([, title]) => title);
  expect(titles).toEqual([
    'Options',
    'Run a workflow',
    'Look at runs',
    'Answer agents',
    'Write workflows',
    'Operate Raymond',
    'Options of run (all of them: raymond run --help)',
    'Examples',
  ]);
  expect(help).toMatch(/^ {2}--init-config {2,}write/m);
  expect(help).toMatch(/^ {2}--budget <usd> {2,}stop when/m);
});

test.each([60, 80])('no line is wider than %d columns, and no word is lost', (width) => {
  for (const command of [raymond, ...own]) {
    const help = helpOf(command, width);
    expect(help.split('\n').filter((line) => line.length > width)).toEqual([]);
    const words = help.replace(/\s+/g, ' ');
    for (const { description, hidden } of command.options)
      if (!hidden) expect(words).toContain(description);
    expect(words).toContain(command.description());
  }
});

test('every command has examples, with options that it has', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(['raymond', ...own.map((one) => one.name())].sort());
  for (const command of own) {
    const known = command.options.flatMap(({ short, long }) => [short, long]);
    for (const example of EXAMPLES[command.name()] ?? []) {
      const options = [...example.matchAll(/ (--?[a-z][a-z-]*)/g)].map(([, option]) => option);
      expect(known).toEqual(expect.arrayContaining(options));
      expect(example).toMatch(new RegExp(`^raymond (${command.name()}\\b|--init-config$)`));
    }
  }
});
