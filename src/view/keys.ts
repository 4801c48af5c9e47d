/** The keys in what a terminal in raw mode sends. */
export type Key =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'ctrl-c'
  | 'ctrl-z'
  | 'ctrl-backslash'
  | 'ctrl-l'
  | { readonly letter: string };

/**
 * A terminal sends a sequence in one piece, so an escape character that nothing follows is the key Esc.
 * Other sequences are ignored. Several letters at once are pasted, and nobody means them as keys.
 */
export function keysIn(piece: string): readonly Key[] {
  const keys = (piece.match(SEQUENCES) ?? []).flatMap((sequence): readonly Key[] => {
    const key = KEYS[sequence];
    if (key) return [key];
    return sequence.length === 1 && sequence >= ' ' ? [{ letter: sequence }] : [];
  });
  return keys.filter((key) => typeof key === 'object').length > 1 ? [] : keys;
}

const ESC = '\x1b';
const SEQUENCES = new RegExp(`${ESC}\\[[0-9;]*[A-Za-z~]|${ESC}O[A-Za-z]|[\\s\\S]`, 'g');

const KEYS: Readonly<Record<string, Exclude<Key, object>>> = {
  [ESC]: 'escape',
  ...Object.fromEntries(
    ['[', 'O'].flatMap((start) => [
      [`${ESC}${start}A`, 'up'],
      [`${ESC}${start}B`, 'down'],
      [`${ESC}${start}C`, 'right'],
      [`${ESC}${start}D`, 'left'],
      [`${ESC}${start}H`, 'home'],
      [`${ESC}${start}F`, 'end'],
    ]),
  ),
  [`${ESC}[1~`]: 'home',
  [`${ESC}[7~`]: 'home',
  [`${ESC}[4~`]: 'end',
  [`${ESC}[8~`]: 'end',
  [`${ESC}[5~`]: 'page-up',
  [`${ESC}[6~`]: 'page-down',
  '\r': 'enter',
  '\n': 'enter',
  '\x03': 'ctrl-c',
  '\x1a': 'ctrl-z',
  '\x1c': 'ctrl-backslash',
  '\x0c': 'ctrl-l',
};
