/** Our own environment without what an outer run said to us: a workflow may itself start Raymond. */
export function inheritedEnvironment(from: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const kept = Object.entries(from).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isOuterRun(entry[0]),
  );
  return Object.fromEntries(kept);
}

function isOuterRun(name: string): boolean {
  return name.startsWith('RAYMOND_') && name !== 'RAYMOND_CLAUDE';
}
