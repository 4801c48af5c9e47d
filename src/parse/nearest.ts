/** The candidate that a mistyped name most likely meant, if one is close enough. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  return nearestFew(name, candidates, 1)[0];
}

/** A remedy that names the candidate, if there is one. */
export function suggestion(meant: string | undefined, otherwise: string) {
  return meant === undefined
    ? { remedy: otherwise }
    : { remedy: `Did you mean ${meant}?`, nearest: meant };
}

/** The closest candidates, best first. */
export function nearestFew(name: string, candidates: Iterable<string>, count = 3): string[] {
  return nameIndex(candidates).nearest(name, count);
}

/** Names for many searches. A search costs the same for any number of names. */
export interface NameIndex {
  /** The closest names, best first. */
  nearest(name: string, count?: number): string[];
}

export function nameIndex(names: Iterable<string>): NameIndex {
  const byLength = new Map<number, string[]>();
  for (const name of new Set(names)) {
    const others = byLength.get(name.length);
    if (others) others.push(name);
    else byLength.set(name.length, [name]);
  }
  return {
    nearest(name, count = 3) {
      if (name.length > LONGEST_NAME) return [];
      const written = name.toLowerCase();
      const most = allowedDistance(name);
      const close = likely(byLength, name.length, most).flatMap((candidate) => {
        const distance = editDistance(written, candidate.toLowerCase(), most);
        return distance === undefined ? [] : [{ candidate, distance }];
      });
      close.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
      return close.slice(0, count).map(({ candidate }) => candidate);
    },
  };
}

/** Lists with more names of one length are generated, not typed by hand. */
const MOST_COMPARED = 200;
const LONGEST_NAME = 100;

/** Names of about the same length, the most similar first. */
function likely(
  byLength: ReadonlyMap<number, readonly string[]>,
  length: number,
  most: number,
): readonly string[] {
  const found: string[] = [];
  for (let off = 0; off <= most; off++) {
    for (const other of new Set([length - off, length + off])) {
      found.push(...(byLength.get(other) ?? []).slice(0, MOST_COMPARED - found.length));
    }
  }
  return found;
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
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      // A cell further from the diagonal already costs more.
      if (Math.abs(i - j) > most) {
        row.push(FAR);
        continue;
      }
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let best = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, at(beforeLast, j - 2) + 1);
      }
      row.push(best);
      least = Math.min(least, best);
    }
    if (least > most) return undefined;
    beforeLast = last;
    last = row;
  }
  const distance = at(last, b.length);
  return distance <= most ? distance : undefined;
}

const FAR = Number.POSITIVE_INFINITY;

function at(row: readonly number[], index: number): number {
  return row[index] ?? FAR;
}
