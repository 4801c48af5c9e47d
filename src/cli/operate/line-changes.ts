export interface ChangedLine {
  readonly mark: ' ' | '+' | '-';
  readonly text: string;
}

/** Compares two texts line by line. The lines of very different long texts are all replaced. */
export function lineChanges(before: string, after: string): readonly ChangedLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let first = 0;
  while (first < old.length && first < now.length && old[first] === now[first]) first++;
  let last = 0;
  const most = Math.min(old.length, now.length) - first;
  while (last < most && old.at(-1 - last) === now.at(-1 - last)) last++;
  return [
    ...marked(' ', old.slice(0, first)),
    ...between(old.slice(first, old.length - last), now.slice(first, now.length - last)),
    ...marked(' ', last === 0 ? [] : old.slice(-last)),
  ];
}

/** A text without a newline at its end is another one. */
function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  return lines.at(-1) === ''
    ? lines.slice(0, -1)
    : [...lines.slice(0, -1), `${lines.at(-1)}${NO_END}`];
}

const NO_END = ' (no newline at the end)';

const marked = (mark: ChangedLine['mark'], lines: readonly string[]) =>
  lines.map((text) => ({ mark, text }));

/** Keeps the longest common subsequence. */
function between(old: readonly string[], now: readonly string[]): readonly ChangedLine[] {
  if (old.length * now.length > MOST_COMPARED) return [...marked('-', old), ...marked('+', now)];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const changes: ChangedLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [gone = '', come = ''] = [old[i], now[j]];
    if (i < old.length && j < now.length && gone === come) {
      changes.push({ mark: ' ', text: gone });
      i++;
      j++;
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1))) {
      changes.push({ mark: '-', text: gone });
      i++;
    } else {
      changes.push({ mark: '+', text: come });
      j++;
    }
  }
  return changes;
}

const MOST_COMPARED = 4_000_000;
