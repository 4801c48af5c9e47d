/** Run options that a program passes, by their keys in config files. */

import type { TableRow } from '../../options/chosen-options.ts';
import { fromValues } from '../../options/chosen-options.ts';
import { configKey, configKeys, isNegated } from '../../options/option-names.ts';
import { valueProblem } from '../../options/option-schema.ts';
import { asRemedy } from '../../options/option-values.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { nearest } from '../../parse/nearest.ts';
import type { BackgroundCommand } from '../background.ts';
import { needsTrust } from './configuration.ts';
import { OPTIONS } from './option-table.ts';

/** By their keys in config files; `set` is a list of `name=value`. */
export type GivenOptions = Readonly<Record<string, unknown>>;

/** Throws a UserError for an option that is unknown, wrong, or a matter of the command line. */
export function optionsFrom(
  given: GivenOptions,
  kind: BackgroundCommand['kind'],
  root: string,
): RunOptions {
  const rows = OPTIONS.filter(
    ({ name, only, onlyAtStart }) =>
      only !== 'config' && !OF_A_TERMINAL.has(name) && !(kind === 'resume' && onlyAtStart),
  );
  return fromValues(
    Object.entries(given).flatMap(([key, value]) => {
      if (value === undefined) return [];
      const row = rows.find((one) => configKeys(one).includes(key));
      if (!row) throw unknownKey(key, rows);
      const read = isNegated(row, key) ? !value : value;
      const problem = valueProblem(row, value);
      if (problem)
        throw wrongUsage(`The option ${key} has a wrong value.`, asRemedy(problem, row.example));
      if (!CHOSEN_FREELY.has(row.name) && isDangerous(row, read, root)) throw onlyByHand(row);
      return [[row, read] as const];
    }),
  );
}

/** Options for the screen and the process of a command, or with files that it reads. */
const OF_A_TERMINAL = new Set([
  ...['detach', 'quiet', 'verbose', 'plain', 'json', 'notify', 'log-file', 'rehearsal', 'scripts'],
  'workflow-id',
]);

/** Limits that only cost money or time. */
const CHOSEN_FREELY = new Set(['budget', 'confirm-above', 'max-agents', 'max-depth']);

function isDangerous(row: TableRow, value: unknown, root: string): boolean {
  return 'inProject' in row && needsTrust(row.inProject, value, root);
}

function unknownKey(key: string, rows: readonly TableRow[]) {
  const near = nearest(key, rows.flatMap(configKeys));
  return wrongUsage(
    `There is no option "${key}" here.`,
    near === undefined ? 'Remove it.' : `Did you mean ${near}?`,
  );
}

function onlyByHand(row: TableRow) {
  return wrongUsage(
    `The option ${configKey(row)} with this value needs the command line.`,
    `Start or resume the run in a terminal, with --${row.name}.`,
  );
}
