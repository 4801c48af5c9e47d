/**
 * Reads and combines chosen options by the rows of the table. Choices for an agent are kept
 * together, separate from the others.
 */
import { resolve } from 'node:path';
import type { AgentDeclaration, Choice } from '../model/agent.ts';
import type { ConfiguredAgents } from '../model/configured-agent.ts';
import type { Settings } from '../model/event.ts';
import type { OptionSpec } from '../model/option.ts';
import { isInlineJson } from '../parse/inline-json.ts';
import { camelCase, configKeys, isNegated } from './option-names.ts';
import { RUN_OPTIONS, type RunOptions } from './run-options.ts';

/** A row of the table. `choice` is the name of an agent's option in its declaration. */
export type TableRow = OptionSpec & { readonly choice?: string };

/** The options of Raymond, followed by those of the agents. */
export function optionTable({ choices }: Pick<AgentDeclaration, 'choices'>): readonly TableRow[] {
  const ofAgents = choices.flatMap(({ name, option }) =>
    option ? [{ ...option, choice: name }] : [],
  );
  return [...RUN_OPTIONS, ...ofAgents];
}

export function chosenValue(options: RunOptions, { name, choice }: TableRow): unknown {
  const values: Readonly<Record<string, unknown>> = options;
  return choice === undefined ? values[camelCase(name)] : options.agent?.[choice];
}

/** The value that an option has in the settings of a run, in the form of a config file. */
export function valueInSettings(
  settings: Settings,
  { setting, choice, isDuration }: TableRow,
): unknown {
  if (choice !== undefined) return settings.agent[choice];
  const value = setting && settings[setting];
  return isDuration && typeof value === 'number' ? value / 1000 : value;
}

/** The options as a program reads them, each under its name. */
/** Without secrets: this is for people. */
export function byName(
  options: RunOptions,
  table: readonly TableRow[],
): Readonly<Record<string, unknown>> {
  const values = table.map((row) => {
    const value = chosenValue(options, row);
    return [camelCase(row.name), row.isSecret && value !== undefined ? '…' : value] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

export function fromValues(values: Iterable<readonly [TableRow, unknown]>): RunOptions {
  const given = [...values].filter(([, value]) => value !== undefined);
  const own = given.flatMap(([{ name, choice }, value]) =>
    choice === undefined ? [[camelCase(name), value] as const] : [],
  );
  const agent = given.flatMap(([{ choice }, value]) =>
    choice === undefined || !isChoice(value) ? [] : [[choice, value] as const],
  );
  return {
    ...Object.fromEntries(own),
    ...(agent.length > 0 && { agent: Object.fromEntries(agent) }),
  };
}

/** Reads options by the keys of a file, without undefined values. */
export function fromKeys(
  table: readonly TableRow[],
  given: Readonly<Record<string, unknown>>,
): RunOptions {
  return fromValues(
    Object.entries(given).flatMap(([key, value]) => {
      const row = table.find((one) => configKeys(one).includes(key));
      if (!row || value === undefined) return [];
      return [[row, isNegated(row, key) ? !value : value] as const];
    }),
  );
}

function isChoice(value: unknown): value is Choice {
  return typeof value === 'string' || typeof value === 'boolean' || Array.isArray(value);
}

/** The options of `over`, and those of `under` that `over` does not set. */
export function overlaid<T extends RunOptions>(under: RunOptions, over: T): RunOptions & T {
  const agent = { ...under.agent, ...over.agent };
  const agents = overlaidAgents(under.agents, over.agents);
  return {
    ...withoutExcluded(under, over),
    ...over,
    ...bothRights(under.rights, over.rights),
    ...(Object.keys(agent).length > 0 && { agent }),
    ...(Object.keys(agents).length > 0 && { agents }),
  };
}

/** Each source can only narrow the rights that others give. */
function bothRights(under: RunOptions['rights'], over: RunOptions['rights']): RunOptions {
  if (!under || !over) return {};
  return { rights: [...under, ...over] };
}

/** The options of `under` that no option of `over` excludes. */
function withoutExcluded(under: RunOptions, over: RunOptions): RunOptions {
  const on = RUN_OPTIONS.filter((row) => chosenValue(over, row));
  const excluded = new Set(on.flatMap((row: OptionSpec) => row.excludes ?? []).map(camelCase));
  return Object.fromEntries(Object.entries(under).filter(([name]) => !excluded.has(name)));
}

/** Prices of both files apply, so that a project need not repeat those of the user. */
function overlaidAgents(
  under: ConfiguredAgents = {},
  over: ConfiguredAgents = {},
): ConfiguredAgents {
  const both = Object.entries(over).map(([name, one]) => {
    // A different command is a different program, so no other declared property applies to it.
    const base = one.command ? {} : under[name];
    return [name, { ...base, ...one, prices: { ...under[name]?.prices, ...one.prices } }];
  });
  return { ...under, ...Object.fromEntries(both) };
}

/**
 * Makes paths absolute, relative to a folder, so that they do not depend on where Raymond starts or
 * where its agents work.
 */
export function seenFrom(
  folder: string,
  options: RunOptions,
  table: readonly TableRow[],
): RunOptions {
  return fromValues(
    table.map((row) => {
      const value = chosenValue(options, row);
      const seen = (path: unknown) => absolute(row, folder, path);
      return [row, Array.isArray(value) ? value.map(seen) : seen(value)] as const;
    }),
  );
}

function absolute({ path }: OptionSpec, folder: string, value: unknown): unknown {
  if (path === undefined || typeof value !== 'string' || value === '') return value;
  if (path === 'file or JSON' && isInlineJson(value)) return value;
  return path === 'program' && !value.includes('/') ? value : resolve(folder, value);
}
