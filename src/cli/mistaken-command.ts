import { existsSync } from 'node:fs';
import { type Command, CommanderError } from 'commander';
import { UserError } from '../model/user-error.ts';
import { clip } from '../parse/clip.ts';
import { nearest } from '../parse/nearest.ts';

/**
 * Any first word may be a workflow, so a mistyped command looks like a missing workflow, followed by
 * words or options that `run` does not know. Returns the more helpful error.
 */
export function mistakenCommand(
  raymond: Command,
  [word = '-']: readonly string[],
  error: unknown,
): unknown {
  const visible = raymond.createHelp().visibleCommands(raymond);
  const commands = visible.flatMap((command) => [command.name(), ...command.aliases()]);
  const isFormer = FORMER.has(word) && error instanceof UserError && error.code === 'no-workflow';
  if ((!isFormer && !isUnknownWord(error)) || word.startsWith('-') || commands.includes(word))
    return error;
  const remedy = FORMER.get(word) ?? resembling(word, commands);
  if (remedy === undefined || existsSync(word)) return error;
  return new UserError(
    'no-command',
    `There is no command ${clip(word)} and no workflow with this name.`,
    remedy,
  );
}

/** Commands of an older tool whose workflows Raymond runs, and options that are taken for commands. */
const FORMER: ReadonlyMap<string, string> = new Map([
  ['recover', 'To continue a run: raymond resume <run>. To continue all: raymond resume --all'],
  ['init-config', 'To create a config file: raymond --init-config'],
  ['status', 'To see all runs: raymond list. To see one: raymond show <run>'],
]);

function isUnknownWord(error: unknown): boolean {
  if (error instanceof CommanderError)
    return ['commander.excessArguments', 'commander.unknownOption'].includes(error.code);
  // A word that resembles a workflow more likely means the workflow.
  return (
    error instanceof UserError &&
    error.code === 'no-workflow' &&
    !error.remedy.includes('Did you mean')
  );
}

function resembling(word: string, commands: readonly string[]): string | undefined {
  const meant = nearest(word, commands);
  return meant === undefined ? undefined : `Did you mean: raymond ${meant}?`;
}
