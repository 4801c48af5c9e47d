/** Text that cannot leave the element or the quoted attribute it stands in, in HTML and in XML. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (char) => ENTITIES.get(char) ?? '\u{FFFD}');
}

/** Also the control characters and half characters that XML cannot hold at all. */
const UNSAFE = /[&<>"']|[^\P{Cc}\t\n\r]|\p{Cs}|[\uFFFE\uFFFF]/gu;

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);
