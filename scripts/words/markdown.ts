/** The prose of a markdown file: paragraphs, list items, headings and table cells. */
import type { Passage } from './passage.ts';

/**
 * Fenced blocks, front matter and comments are not prose. Generated parts are skipped, too: their
 * texts are found where they are written, in the code.
 */
export function markdownPassages(text: string): readonly Passage[] {
  const passages: Passage[] = [];
  let open: { line: number; text: string } | undefined;
  const close = () => {
    if (open) passages.push(open);
    open = undefined;
  };
  for (const [index, line] of withoutCode(text).split('\n').entries()) {
    const at = index + 1;
    const [, marker = '', content = ''] =
      /^\s*((?:>\s*|[-*+]\s+|\d+[.)]\s+|#{1,6}\s+)*)(.*)$/.exec(line) ?? [];
    if (line.trim().startsWith('|')) {
      close();
      passages.push(...cells(line).map((cell) => ({ line: at, text: cell })));
    } else if (content.trim() === '') {
      close();
    } else if (/[-*+#\d]/.test(marker) || !open) {
      close();
      open = { line: at, text: content };
      if (marker.includes('#')) close();
    } else {
      open.text += `\n${content}`;
    }
  }
  close();
  return passages;
}

/** Every line stays where it is. */
function withoutCode(text: string): string {
  return text
    .replace(/^---\n[\s\S]*?\n---(?=\n|$)/, blank)
    .replace(/^[ \t]*(`{3,}|~{3,})[^\n]*\n(?:[\s\S]*?\n)??[ \t]*\1[ \t]*$/gm, blank)
    .replace(/<!-- generated: [\s\S]*?<!-- end -->/g, blank)
    .replace(/<!--[\s\S]*?-->/g, blank);
}

function blank(part: string): string {
  return part.replace(/[^\n]/g, '');
}

/** A bar in a cell is written `\|`. */
function cells(row: string): readonly string[] {
  const inner = row.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => /[\p{L}\p{N}]/u.test(cell));
}
