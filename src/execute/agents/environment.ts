import { TOKEN_VARIABLE } from '../process/mark.ts';
import { BUILT_IN_AGENTS } from './agent-option.ts';
import { programVariable } from './find-program.ts';

/**
 * This process's environment without the variables of an outer run: a workflow may itself start
 * Raymond. The outer step's token stays, so that stopping that step finds all processes.
 */
export function inheritedEnvironment(from: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const kept = Object.entries(from).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isOuterRun(entry[0]),
  );
  return Object.fromEntries(kept);
}

/**
 * The same for agents. Agents run git in their directory, and git takes any folder with certain files for a
 * bare repository, whose configuration names programs to run. An agent that may edit files can make one.
 */
export function agentEnvironment(from: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const inherited = inheritedEnvironment(from);
  const count = Number.parseInt(inherited.GIT_CONFIG_COUNT ?? '', 10) || 0;
  return {
    ...inherited,
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: 'safe.bareRepository',
    [`GIT_CONFIG_VALUE_${count}`]: 'explicit',
  };
}

function isOuterRun(name: string): boolean {
  if (!name.startsWith('RAYMOND_') || name === TOKEN_VARIABLE) return false;
  return !BUILT_IN_AGENTS.some((agent) => programVariable(agent) === name);
}
