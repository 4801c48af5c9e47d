import { visible } from '../model/visible.ts';

/** Text that cannot leave the element or the quoted attribute it stands in, in HTML and in XML, and hides nothing. */
export function escapeText(text: string): string {
  return visible(text).replace(UNSAFE, (char) => ENTITIES.get(char) ?? '\u{FFFD}');
}

/** Also what XML cannot hold at all. A line of a page or picture that is begun is never begun by a text. */
const UNSAFE = /[&<>"'\n]|[\uFFFE\uFFFF]/g;

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
  ['\n', '&#10;'],
]);
