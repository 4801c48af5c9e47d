/** A text for people, cut out of a file: a paragraph, a table cell, a comment, a message, a title. */
export interface Passage {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface Sentence {
  readonly line: number;
  /** On one line, as the author wrote it. */
  readonly text: string;
  /** Without code, addresses and markup, so that only words are left. */
  readonly words: string;
}

/**
 * Code, link targets and tags are masked with as many characters as they have, so that positions in
 * the masked text are positions in the text.
 */
export function sentencesOf({ line, text }: Passage): readonly Sentence[] {
  const masked = mask(text);
  const sentences: Sentence[] = [];
  let from = 0;
  for (const end of [...sentenceEnds(masked), masked.length]) {
    const words = masked.slice(from, end);
    const lead = words.length - words.trimStart().length;
    if (/[\p{L}\p{N}]/u.test(words)) {
      sentences.push({
        line: line + (text.slice(0, from + lead).match(/\n/g)?.length ?? 0),
        text: oneLine(text.slice(from, end)),
        words: oneLine(words),
      });
    }
    from = end;
  }
  return sentences;
}

export function wordCount({ words }: Sentence): number {
  return words.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** A code span is one word, whatever it holds; a tag and the address of a link are none. */
function mask(text: string): string {
  return text
    .replace(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, (code) => 'X'.repeat(code.length))
    .replace(/\]\([^)\s]*\)/g, (target) => `]${' '.repeat(target.length - 1)}`)
    .replace(/<\/?[A-Za-z][^<>]*>/g, (tag) => ' '.repeat(tag.length))
    .replace(/\bhttps?:\/\/[^\s)]+/g, (address) => 'X'.repeat(address.length));
}

/** A full stop inside a number, a name or an abbreviation ends nothing. */
function* sentenceEnds(masked: string): Generator<number> {
  const ends = /[.!?]["')\]*_]*(?=\s+(?:[^\s\p{Ll}]|$))/gu;
  for (const match of masked.matchAll(ends)) {
    const before = masked.slice(0, match.index + 1);
    if (!/\b(?:e\.g|i\.e|vs|cf)\.$/i.test(before)) yield match.index + match[0].length;
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
