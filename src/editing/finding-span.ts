/** The part of a line to underline for a finding: the tag or the word at its place. */
export function findingEnd(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  const rest = text.slice(at, Math.min(newline < 0 ? text.length : newline, at + LONGEST));
  const [found = ''] = /^<[^<>]*>?|^\{\{[^{}]*\}\}|^[\p{L}\p{N}_.-]+|^\S+|^.?/u.exec(rest) ?? [];
  return at + found.length;
}

const LONGEST = 200;
