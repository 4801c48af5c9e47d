/** A page that fills the screen: a head, a part of a longer text, and a foot. */
import type { Key } from './keys.ts';

/** The first row of the text that is shown; `end` follows the text as it grows. */
export type Scroll = number | 'end';

export interface PageSize {
  /** The rows of the text. */
  readonly rows: number;
  /** The rows of the text that fit the screen. */
  readonly room: number;
}

export function scrolled(scroll: Scroll, key: Key, size: PageSize): Scroll {
  const by = (rows: number) => within(firstRow(scroll, size) + rows, size);
  switch (key) {
    case 'up':
      return by(-1);
    case 'down':
      return by(1);
    case 'page-up':
      return by(1 - size.room);
    case 'page-down':
      return by(size.room - 1);
    case 'home':
      return within(0, size);
    case 'end':
      return 'end';
    default:
      return scroll;
  }
}

export function firstRow(scroll: Scroll, size: PageSize): number {
  const last = lastFirst(size);
  return scroll === 'end' ? last : Math.min(scroll, last);
}

/** Whoever scrolls down to the end follows it again. */
function within(row: number, size: PageSize): Scroll {
  const first = Math.max(0, row);
  return first >= lastFirst(size) ? 'end' : first;
}

const lastFirst = ({ rows, room }: PageSize) => Math.max(0, rows - room);

/** Where the user is in the text. */
export function scrollText(scroll: Scroll, size: PageSize): string {
  const last = lastFirst(size);
  if (scroll === 'end' || last === 0) return 'end';
  return `${Math.round((100 * firstRow(scroll, size)) / last)} %`;
}
