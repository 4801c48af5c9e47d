/**
 * INV-2: Untrusted text cannot act on a terminal. Cleaning removes nothing, and cleaning twice changes
 * nothing.
 *
 * Shows untrusted text (agents, workflows, file names, journals) to a person. A character that could
 * act on a terminal, or would be invisible there, becomes an escape. All other characters stay.
 */
export function visible(text: string): string {
  return replaceHidden(text, (found) => {
    if (found === '\r\n') return '\n';
    const code = found.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    return code <= 0xff ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`;
  });
}

/** JSON of a value. It means the same to a program, and is harmless to a terminal. */
export function visibleJson(value: unknown, indent?: number): string {
  return replaceHidden(JSON.stringify(value, null, indent), (found) =>
    Array.from(
      { length: found.length },
      (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

function replaceHidden(text: string, replace: (found: string) => string): string {
  if (ONLY_PLAIN.test(text)) return text;
  return text.replace(hiddenOrEmoji(), (found, emoji?: string) => emoji ?? replace(found));
}

/** Most text is plain, and checking for that is much faster than looking for hidden characters. */
const ONLY_PLAIN = /^[\t\n\x20-\x7e]*$/;

/**
 * Matches control characters, format characters (bidirectional ones, joiners, tags), characters
 * that Unicode ignores in display, line separators and lone surrogates. It does not match the
 * newline, the tab and the few visible format characters. A joiner or selector inside an emoji
 * belongs to it.
 */
function hiddenOrEmoji(): RegExp {
  hidden ??= new RegExp(
    [
      String.raw`(PICTURE[\ufe0e\ufe0f]?MODIFIER?(?:\u200dPICTURE\ufe0f?MODIFIER?)*|[0-9#*]\ufe0f\u20e3)`,
      String.raw`\r\n`,
      String.raw`(?![\n\tDRAWN])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`,
    ]
      .join('|')
      .replaceAll('PICTURE', String.raw`\p{Extended_Pictographic}`)
      .replaceAll('MODIFIER', String.raw`\p{Emoji_Modifier}`)
      .replace('DRAWN', String.raw`\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}`),
    'gu',
  );
  return hidden;
}

/** Made only when a text is not plain, because its classes of characters delay every start. */
let hidden: RegExp | undefined;
