/**
 * The choices that a question offers: its last list, or the words in brackets at its end. They are a
 * reading of a text, so a person sees what would be sent and may change it.
 */
export function choicesIn(question: string): readonly string[] {
  const lines = withoutCode(question).split('\n');
  const groups: string[][] = [];
  let isInList = false;
  for (const line of lines) {
    const item = ITEM.exec(line)?.[1];
    if (item !== undefined) {
      if (!isInList) groups.push([]);
      groups.at(-1)?.push(plain(item));
      isInList = true;
    } else if (line.trim() !== '') isInList = false;
  }
  const last = groups.at(-1) ?? [];
  const isTasks = last.some((item) => /^\[[ x]\]/i.test(item));
  const isAtEnd = linesAfterList(lines) <= MOST_LINES_AFTER;
  if (last.length >= 2 && last.length <= MOST_CHOICES && isAtEnd && !isTasks)
    return last.every(({ length }) => length > 0 && length <= LONGEST) ? last : [];
  return inBrackets(question);
}

/** `1. Create it`, `2) No`, `- Yes`, `* Maybe`, `a) The first`. */
const ITEM = /^\s{0,3}(?:[-*•]|\d{1,2}[.)]|[a-h][.)])\s+(\S.*)$/;
const [MOST_CHOICES, LONGEST, MOST_LINES_AFTER] = [9, 120, 2];

/** `Go on? (yes/no)`, `[y/N]`. */
function inBrackets(question: string): readonly string[] {
  const found = /[([]([^()[\]\n]{3,80})[)\]]\s*[?:.]?\s*$/.exec(question)?.[1] ?? '';
  const words = found.split(/\s*[/|]\s*/);
  const areWords = words.every((word) => /^[\p{L}\p{N}][\p{L}\p{N} _-]{0,30}$/u.test(word));
  return words.length >= 2 && words.length <= MOST_CHOICES && areWords ? words : [];
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```\s*$/gm, '');
}

function linesAfterList(lines: readonly string[]): number {
  const at = lines.findLastIndex((line) => ITEM.test(line));
  return lines.slice(at + 1).filter((line) => line.trim() !== '').length;
}

/** Without the marks of markdown, as a person would type it. */
const plain = (item: string) =>
  item
    .replace(/\*\*|__|`/g, '')
    .replace(/\s+/g, ' ')
    .trim();
