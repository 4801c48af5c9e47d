/**
 * The options of both config files. The project's file overrides the user's file. A project may be
 * untrusted, so its dangerous keys apply only after the user has approved the file.
 */
import { dirname, join } from 'node:path';
import type { SecretSource } from '../../execute/secrets/source.ts';
import type { IsDangerous } from '../../model/option.ts';
import { UserError } from '../../model/user-error.ts';
import {
  chosenValue,
  fromValues,
  overlaid,
  seenFrom,
  type TableRow,
} from '../../options/chosen-options.ts';
import { configKey } from '../../options/option-names.ts';
import type { RunOptions } from '../../options/run-options.ts';
import type { Here, Surroundings } from '../surroundings.ts';
import { agentAssignments } from './agents-section.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import { type FileChoices, fileChoices, refuseContradictions } from './normal-choices.ts';
import { CONFIG_OPTIONS } from './option-table.ts';
import { isTrusted } from './trust.ts';
import { checkOwn, userConfigFolder } from './user-folders.ts';

export interface Configuration {
  readonly options: RunOptions;
  readonly user: ConfigPart;
  readonly project: ConfigPart & {
    readonly isTrusted: boolean;
    /** The options that need trust, whether or not the file is trusted. */
    readonly dangerous: RunOptions;
  };
}

interface ConfigPart extends FileChoices {
  readonly file: string;
  readonly text: string | undefined;
}

type ConfiguredProject = Surroundings['project'];

export async function readConfiguration(project: ConfiguredProject): Promise<Configuration> {
  const userPart = await readUserFile();
  const projectPart = await readProjectFile(project);
  const options = overlaid(userPart.options, projectPart.options);
  return { options, user: userPart, project: projectPart };
}

/**
 * The options for a command that only reads a workflow. It works even if Raymond refuses the folder
 * `.raymond` because others could have created it.
 */
export async function optionsForReading(here: Here): Promise<RunOptions> {
  const user = await readUserFile();
  try {
    const ofProject = await readProjectFile((await here()).project);
    return overlaid(user.options, ofProject.options);
  } catch (error) {
    if (error instanceof UserError) return user.options;
    throw error;
  }
}

/** The same for a run. Throws a UserError if keys that count contradict each other, and `given` does not decide. */
export async function configurationFor(
  project: ConfiguredProject,
  given: RunOptions,
): Promise<Configuration> {
  const configuration = await readConfiguration(project);
  refuseContradictions([configuration.project, configuration.user], given);
  return configuration;
}

/** A warning for the user: which keys of the project's file are ignored, and the remedy. */
export function ignoredKeys({ project }: Configuration): readonly string[] {
  // `chosenDatabase` reports the database, because all commands use it.
  const isReported = ({ name }: TableRow) => name === 'database';
  const keys = project.isTrusted
    ? []
    : allAssignments(project.dangerous, (row) => !isReported(row));
  if (keys.length === 0) return [];
  return [
    `${project.file} is not trusted. Ignored: ${keys.join(', ')}`,
    'To see and approve them: raymond trust',
  ];
}

/** The options in the form of a config file, with the agents. */
export function allAssignments(
  options: RunOptions,
  isWanted?: (row: TableRow) => boolean,
): readonly string[] {
  return [...assignments(options, isWanted), ...agentAssignments(options.agents)];
}

/** The options in the form of a config file. */
export function assignments(
  options: RunOptions,
  isWanted: (row: TableRow) => boolean = () => true,
): readonly string[] {
  return CONFIG_OPTIONS.flatMap((spec) => {
    const value = chosenValue(options, spec);
    if (value === undefined || !isWanted(spec)) return [];
    const isTurned = configKey(spec).startsWith('no_');
    const shown = spec.isSecret ? '…' : isTurned ? !value : value;
    return [`${configKey(spec)} = ${JSON.stringify(shown)}`];
  });
}

async function readUserFile(): Promise<ConfigPart & Required<Pick<ConfigFile, 'secrets'>>> {
  const folder = userConfigFolder();
  const file = join(folder, 'config.toml');
  await checkOwn(folder);
  await checkOwn(file);
  const { text, options, secrets = new Map() } = await readConfigFile(file, folder, 'user');
  return { file, text, secrets, ...fileChoices(options, file) };
}

/** Where the secrets of the user are, except for those of `raymond secret set`. */
export async function readUserSecrets(): Promise<ReadonlyMap<string, SecretSource>> {
  return (await readUserFile()).secrets;
}

async function readProjectFile({ folder, configFile: file }: ConfiguredProject) {
  const root = dirname(folder);
  const { text, options: written } = await readConfigFile(file, root);
  const dangerous = pick(written, root, true);
  const hasTrust =
    text !== undefined && Object.keys(dangerous).length > 0 && (await isTrusted(file, text));
  const applied = fileChoices(hasTrust ? written : pick(written, root, false), file);
  const { options } = applied;
  return {
    file,
    text,
    isTrusted: hasTrust,
    dangerous,
    ...applied,
    options: {
      ...seenFrom(root, options, CONFIG_OPTIONS),
      ...(options.agents && { agents: options.agents }),
    },
  };
}

/** The options that need trust, or the others. */
function pick(options: RunOptions, root: string, dangerous: boolean): RunOptions {
  const picked = CONFIG_OPTIONS.filter((spec) => {
    const value = chosenValue(options, spec);
    return value !== undefined && needsTrust(spec.inProject, value, root) === dangerous;
  });
  return {
    ...fromValues(picked.map((spec) => [spec, chosenValue(options, spec)])),
    // Their commands run programs, and low prices lift the budget.
    ...(dangerous && options.agents && { agents: options.agents }),
  };
}

/** Whether a value runs programs, permits more, spends more or writes elsewhere. */
export function needsTrust(
  inProject: 'harmless' | 'dangerous' | IsDangerous,
  value: unknown,
  root: string,
): boolean {
  return typeof inProject === 'function' ? inProject(value, root) : inProject === 'dangerous';
}
