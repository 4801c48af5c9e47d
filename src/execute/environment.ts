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

function isOuterRun(name: string): boolean {
  return name.startsWith('RAYMOND_') && !KEPT.has(name);
}

const KEPT = new Set(['RAYMOND_CLAUDE', 'RAYMOND_CODEX', 'RAYMOND_STEP_TOKEN']);
