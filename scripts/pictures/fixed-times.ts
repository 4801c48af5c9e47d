/** Replaces what differs each time: times of day, durations and the project's folder. */

/** Of the lines of the report, in order. */
const TIMES = ['10:15:02', ...Array.from({ length: 5 }, () => '10:15:43'), '10:17:20', '10:17:48'];
const DURATIONS = ['41.2 s', '1 min 37 s', '2 min 5 s'];
/** Of the rows of the view, in order; they have the same width. */
const CLOCKS = ['2:14', '2:08', '2:08', '0:09', '2:55'];

/** What a picture shows in place of the real times, in the order of the screen. */
export interface ShownTimes {
  readonly times?: readonly string[];
  readonly durations?: readonly string[];
  readonly clocks?: readonly string[];
}

export interface Replaced extends ShownTimes {
  readonly folder: string;
  /** The folder that the picture shows. */
  readonly shown: string;
}

export function withFixedTimes(captured: string, replaced: Replaced): string {
  const { folder, shown } = replaced;
  const times = inOrder(replaced.times ?? TIMES);
  const durations = inOrder(replaced.durations ?? DURATIONS);
  const clocks = inOrder(replaced.clocks ?? CLOCKS);
  return captured
    .split('\n')
    .map((row) => withFolder(row, folder, shown))
    .join('\n')
    .replace(/(?<![\d:])\d\d:\d\d:\d\d(?![\d:])/g, times)
    .replace(/(?<=\(|steps, )\d+(\.\d| min \d+) s(?=[,)])/g, durations)
    .replace(/(?<![\d:])\d:\d\d(?![\d:])/g, clocks);
}

/** The gap after the path grows by as much as the path shrinks, so that columns stay in place. */
function withFolder(row: string, folder: string, shown: string): string {
  const [before, after] = row.split(folder);
  if (before === undefined || after === undefined) return row;
  const missing = ' '.repeat(Math.max(0, folder.length - shown.length));
  return `${before}${shown}${after.replace(/ {2,}/, (gap) => gap + missing)}`;
}

/** The values in turn; the last one repeats. */
function inOrder(values: readonly string[]): () => string {
  let used = 0;
  return () => values[Math.min(used++, values.length - 1)] ?? '';
}
