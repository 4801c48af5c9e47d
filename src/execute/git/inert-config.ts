/**
 * Git runs programs that the configuration of a repository names: hooks, monitors and filters. An
 * agent may have written them: hooks are often files of the project, and a configuration can include
 * such files. So Raymond replaces these settings in every call that works on files.
 */
import { runGit } from './run-git.ts';

/** The environment in which git runs no program that the repository names. */
export async function inertConfig(repository: string): Promise<Readonly<Record<string, string>>> {
  const args = ['--git-dir', repository, 'config', '--list', '--show-scope', '-z'];
  const entries = readEntries(await runGit({ args, env: asEnvironment(ALWAYS) }));
  if (!entries.some(({ scope }) => scope === 'command'))
    throw new Error('Raymond needs git 2.31 or newer for worktrees');
  const own = entries.filter(({ scope }) => scope === 'local' || scope === 'worktree');
  const included = own.find(({ key }) => key.startsWith('includeif.'));
  if (included)
    throw new Error(
      `the configuration of the repository has ${included.key}, which Raymond does not follow: move it to your own configuration`,
    );
  const ofUser = new Set(
    entries.filter((entry) => !own.includes(entry)).map(({ key, value }) => `${key}\n${value}`),
  );
  const filters = own.flatMap(({ key, value }) => {
    const [, filter] = /^filter\.(.+)\.(?:clean|smudge|process)$/s.exec(key) ?? [];
    return filter === undefined || ofUser.has(`${key}\n${value}`) ? [] : [filter];
  });
  const hooks = own.flatMap(({ key }) => /^(hook\..+)\.[^.]+$/s.exec(key)?.[1] ?? []);
  return asEnvironment([
    ...ALWAYS,
    ...[...new Set(filters)].flatMap(refusing),
    ...[...new Set(hooks)].flatMap(disabling),
  ]);
}

/** The settings for a repository that Raymond has made. */
export function withSettings(more: readonly Setting[]): Readonly<Record<string, string>> {
  return asEnvironment([...ALWAYS, ...more]);
}

type Setting = readonly [key: string, value: string];

const ALWAYS: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['submodule.recurse', 'false'],
];

/** Without a command, a required filter fails. So git refuses exactly the files that need it. */
function refusing(filter: string): readonly Setting[] {
  const commands = ['clean', 'smudge', 'process'].map((name) => [name, '']);
  return [...commands, ['required', 'true']].map(
    ([name, value]) => [`filter.${filter}.${name}`, value ?? ''] as const,
  );
}

/** Newer versions of git have hooks that a configuration defines. */
function disabling(hook: string): readonly Setting[] {
  return [
    [`${hook}.command`, 'true'],
    [`${hook}.enabled`, 'false'],
  ];
}

/** In variables and not in arguments, because a name may contain any character. */
function asEnvironment(settings: readonly Setting[]): Readonly<Record<string, string>> {
  const pairs = settings.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}

interface Entry {
  readonly scope: string;
  readonly key: string;
  readonly value: string | undefined;
}

/** Scopes and settings alternate. A setting without a value has no newline. */
function readEntries(listed: string): readonly Entry[] {
  const fields = listed.split('\0');
  const entries: Entry[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [key = '', ...value] = fields[i + 1]?.split('\n') ?? [];
    entries.push({
      scope: fields[i] ?? '',
      key,
      value: value.length > 0 ? value.join('\n') : undefined,
    });
  }
  return entries;
}
