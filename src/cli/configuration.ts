/**
 * What the config files say together: the user's own, and over it the project's. A project can come
 * from anybody, so what is dangerous in its file counts only after the user has approved the file.
 */
import { dirname, join, resolve } from 'node:path';
import type { Project } from '../journal/project.ts';
import { isInlineJson } from '../parse/inline-json.ts';
import { configKey, readConfigFile } from './config-file.ts';
import { CONFIG_OPTIONS, camelCase, type IsDangerous, type RunOptions } from './options.ts';
import { onePermission } from './permission.ts';
import { isTrusted } from './trust.ts';
import { checkOwn, userConfigFolder } from './user-folders.ts';

export interface Configuration {
  readonly options: RunOptions;
  readonly user: ConfigPart;
  readonly project: ConfigPart & {
    readonly isTrusted: boolean;
    /** What needs trust, whether the file has it or not. */
    readonly dangerous: RunOptions;
  };
}

interface ConfigPart {
  readonly file: string;
  readonly text: string | undefined;
  /** What counts of it. */
  readonly options: RunOptions;
}

export async function readConfiguration(project: Project): Promise<Configuration> {
  const userPart = await readUserFile();
  const projectPart = await readProjectFile(project);
  const options = { ...userPart.options, ...projectPart.options };
  return { options, user: userPart, project: projectPart };
}

/** What a person has to know: which keys of the project's file are ignored, and what to do. */
export function ignoredKeys({ project }: Configuration): readonly string[] {
  const keys = project.isTrusted ? [] : assignments(project.dangerous);
  if (keys.length === 0) return [];
  return [
    `${project.file} is not trusted. Ignored: ${keys.join(', ')}`,
    `Look at the file. If these are what you want: raymond config trust`,
  ];
}

/** As they are written in a config file. */
export function assignments(options: RunOptions): readonly string[] {
  const values: Readonly<Record<string, unknown>> = options;
  return CONFIG_OPTIONS.flatMap((spec) => {
    const value = values[camelCase(spec.name)];
    if (value === undefined) return [];
    const isTurned = configKey(spec).startsWith('no_');
    return [`${configKey(spec)} = ${JSON.stringify(isTurned ? !value : value)}`];
  });
}

async function readUserFile(): Promise<ConfigPart> {
  const folder = userConfigFolder();
  const file = join(folder, 'config.toml');
  await checkOwn(folder);
  await checkOwn(file);
  const { text, options } = await readConfigFile(file);
  return { file, text, options: onePermission(options, file) };
}

async function readProjectFile({ folder, configFile: file }: Project) {
  const root = dirname(folder);
  const { text, options: written } = await readConfigFile(file);
  onePermission(written, file);
  const dangerous = pick(written, root, true);
  const hasTrust =
    text !== undefined && Object.keys(dangerous).length > 0 && (await isTrusted(file, text));
  const options = onePermission(hasTrust ? written : pick(written, root, false), file);
  return { file, text, isTrusted: hasTrust, dangerous, options: seenFrom(root, options) };
}

/** Those that need trust, or the others. */
function pick(options: RunOptions, root: string, dangerous: boolean): RunOptions {
  const values: Readonly<Record<string, unknown>> = options;
  const names = CONFIG_OPTIONS.filter(({ name, inProject }) => {
    const value = values[camelCase(name)];
    return value !== undefined && needsTrust(inProject, value, root) === dangerous;
  }).map(({ name }) => camelCase(name));
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

function needsTrust(
  inProject: 'harmless' | 'dangerous' | IsDangerous,
  value: unknown,
  root: string,
): boolean {
  return typeof inProject === 'function' ? inProject(value, root) : inProject === 'dangerous';
}

/** Paths in a project's file are seen from the project, wherever in it Raymond is started. */
function seenFrom(root: string, options: RunOptions): RunOptions {
  const { logFile, claudePath, settings, mcpConfig, addDir } = options;
  const seen = (path: string) => (isInlineJson(path) ? path : resolve(root, path));
  return {
    ...options,
    ...(logFile !== undefined && { logFile: resolve(root, logFile) }),
    ...(settings && { settings: seen(settings) }),
    ...(mcpConfig && { mcpConfig: mcpConfig.map(seen) }),
    ...(addDir && { addDir: addDir.map(seen) }),
    ...(claudePath?.includes('/') && { claudePath: resolve(root, claudePath) }),
  };
}
