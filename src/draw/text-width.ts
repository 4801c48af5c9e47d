/**
 * The width of a text in the fonts of the drawing. No browser is available to measure it, so this is
 * slightly more than the width in the widest of these fonts.
 */
export function textWidth(text: string, fontSize: number, weight: 'plain' | 'bold' = 'plain') {
  let width = 0;
  for (const char of text) {
    if (WIDE.test(char)) width += 1.1;
    else if (CAPITAL.test(char)) width += 0.74;
    else if (NARROW.test(char)) width += 0.36;
    else width += 0.62;
  }
  return width * fontSize * (weight === 'bold' ? 1.08 : 1);
}

/** Letters of East Asia, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{3fffd}]/u;
const CAPITAL = /[\p{Lu}mwMW@%&…—·]/u;
const NARROW = /[ijlI.,:;'|!()[\]{} ]/;
