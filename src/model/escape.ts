import { visible } from './visible.ts';

/**
 * Text that cannot leave its element or quoted attribute, in HTML and in XML. Hidden characters
 * become visible.
 */
export function escapeText(text: string): string {
  return visible(text).replace(UNSAFE, (char) => ENTITIES.get(char) ?? '\u{FFFD}');
}

/**
 * Also characters that XML forbids, and line breaks: a text never starts a new line of a page or
 * picture.
 */
const UNSAFE = /[&<>"'\n]|[\uFFFE\uFFFF]/g;

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
  ['\n', '&#10;'],
]);
