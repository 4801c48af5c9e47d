interface Searchable {
  /** In lower case. */
  readonly name: string;
  readonly text: string;
}

/** The items with these words: first in the beginning of the name, then in the name, then in the text. */
export function found<T extends Searchable>(all: readonly T[], words: string): readonly T[] {
  const wanted = words.trim().toLowerCase();
  if (wanted === '') return [];
  const starts = all.filter(({ name }) => name.startsWith(wanted));
  const names = all.filter(({ name }) => name.includes(wanted));
  const texts = all.filter(({ text }) => text.includes(wanted));
  return [...new Set([...starts, ...names, ...texts])];
}
