/** The candidate that a mistyped name most likely meant, if one is close enough. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  return nearestFew(name, candidates, 1)[0];
}

/** The closest candidates, best first. */
export function nearestFew(name: string, candidates: Iterable<string>, count = 3): string[] {
  const written = name.toLowerCase();
  const close: { candidate: string; distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const distance = editDistance(written, candidate.toLowerCase(), allowedDistance(name));
    if (distance !== undefined) close.push({ candidate, distance });
  }
  close.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return close.slice(0, count).map(({ candidate }) => candidate);
}

/** One slip in a short name, up to three in a long one. */
function allowedDistance(name: string): number {
  if (name.length <= 2) return name.length - 1;
  return Math.min(3, Math.ceil(name.length / 3));
}

/** Insertions, deletions, replacements and swapped neighbours; undefined when more than `most`. */
function editDistance(a: string, b: string, most: number): number | undefined {
  if (Math.abs(a.length - b.length) > most) return undefined;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, at(beforeLast, j - 2) + 1);
      }
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  const distance = at(last, b.length);
  return distance <= most ? distance : undefined;
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
