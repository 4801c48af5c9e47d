/** The options of a run, in the form that the option parser needs. */
import { type Command, Option } from 'commander';
import type { OptionSpec } from '../model/option.ts';
import { fromValues } from '../options/chosen-options.ts';
import { camelCase } from '../options/option-names.ts';
import { readOption } from '../options/option-values.ts';
import { COMMAND_LINE_OPTIONS } from '../world/config/option-table.ts';

export function addRunOptions(command: Command, when: 'start' | 'resume' = 'start'): void {
  for (const spec of COMMAND_LINE_OPTIONS) {
    if (when === 'resume' && spec.onlyAtStart) continue;
    for (const option of commanderOptions(spec)) {
      if (spec.choice !== undefined) option.helpGroup('Options for the agent:');
      command.addOption(option);
    }
  }
  command.addHelpText('after', '\nEvery switch has an opposite, such as --wait and --no-quiet.');
}

/** Separates the choices for the agent from the other options. The parser returns both in one object. */
export function withAgentApart(given: Readonly<Record<string, unknown>>) {
  const rows = COMMAND_LINE_OPTIONS.filter(({ choice }) => choice !== undefined);
  const names = new Set(rows.map(({ name }) => camelCase(name)));
  const others = Object.entries(given).filter(([name]) => !names.has(name));
  const ofAgent = fromValues(rows.map((row) => [row, given[camelCase(row.name)]]));
  return { ...Object.fromEntries(others), ...ofAgent };
}

/** A switch has two forms. The help shows the one that is not the default. */
function commanderOptions(spec: OptionSpec): readonly Option[] {
  const { name, kind, meaning, only, isOn } = spec;
  if (kind === 'flag') {
    const on = new Option(`--${name}`, meaning).hideHelp(isOn === true);
    const off = new Option(`--no-${name}`, meaning).hideHelp(isOn !== true);
    return only === 'command-line' ? [on] : [on, off];
  }
  const option = new Option(`--${name} <${spec.placeholder}>`, meaning);
  if (kind === 'list')
    option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  else option.argParser((text: string) => readOption(spec, text));
  const off = new Option(`--no-${name}`, meaning).hideHelp();
  return spec.canBeOff ? [option, off] : [option];
}
