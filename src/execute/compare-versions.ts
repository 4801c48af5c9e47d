/** Negative if the first version is older. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  const differences = (left ?? []).map((part, index) => part - (right?.[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}
