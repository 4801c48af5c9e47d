import { TRANSITION_TAGS } from '../model/tag.ts';

/**
 * A bash script in which the substitutions inside of opening tags have no quotes and no angle
 * brackets. In `"<goto input=\"$(cat "a b")\">"`, the shell uses the inner quotes itself, and prints
 * none of them. The length stays the same.
 */
export function withQuietSubstitutions(script: string): string {
  const opening = new RegExp(`<(?:${TRANSITION_TAGS.join('|')})\\s`, 'g');
  const pieces: string[] = [];
  let done = 0;
  for (let match = opening.exec(script); match; match = opening.exec(script)) {
    const from = match.index + match[0].length;
    if (isInSingleQuotes(script, match.index)) continue;
    for (const [start, end] of substitutionsIn(script, from)) {
      pieces.push(script.slice(done, start), script.slice(start, end).replace(/["'<>\\`]/g, '_'));
      done = end;
    }
    opening.lastIndex = Math.max(from, done);
  }
  return pieces.length === 0 ? script : pieces.join('') + script.slice(done);
}

/** In single quotes, the shell substitutes nothing. */
function isInSingleQuotes(script: string, offset: number): boolean {
  const line =
    script
      .slice(Math.max(0, offset - LONGEST), offset)
      .split('\n')
      .at(-1) ?? '';
  let open = '';
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '\\' && open !== "'") at++;
    else if (open === '' && (char === '"' || char === "'")) open = char;
    else if (char === open) open = '';
  }
  return open === "'";
}

/** No author writes a longer tag, or a longer line before one. */
const LONGEST = 500;

/** The substitutions between the name of a tag and its end. */
function substitutionsIn(script: string, from: number): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  const last = Math.min(script.length, from + LONGEST);
  let at = from;
  while (at < last) {
    const char = script.charAt(at);
    if (char === '>') break;
    const isStart = char === '`' || (char === '$' && '({'.includes(script.charAt(at + 1) || ' '));
    if (!isStart) {
      at += char === '\\' ? 2 : 1;
      continue;
    }
    const end = substitutionEnd(script, at, last);
    if (end === undefined) break;
    found.push([at + (char === '`' ? 0 : 2), char === '`' ? end : end - 1]);
    at = end;
  }
  return found;
}

/** The offset after a substitution; undefined if it does not end in time. */
function substitutionEnd(script: string, start: number, last: number): number | undefined {
  if (script.charAt(start) === '`') {
    const end = script.indexOf('`', start + 1);
    return end < 0 || end >= last ? undefined : end + 1;
  }
  const closers: string[] = [];
  for (let at = start + 1; at < last; at++) {
    const char = script.charAt(at);
    const inner = closers.at(-1);
    if (inner === "'") {
      if (char === "'") closers.pop();
    } else if (char === '\\') {
      at++;
    } else if (char === inner) {
      closers.pop();
      if (closers.length === 0) return at + 1;
    } else if (inner === '"') {
      if (char === '$' && '({'.includes(script.charAt(at + 1) || ' ')) {
        closers.push(CLOSERS[script.charAt(at + 1)] ?? '');
        at++;
      }
    } else if (char in CLOSERS) {
      closers.push(CLOSERS[char] ?? '');
    }
  }
  return undefined;
}

const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '{': '}', '"': '"', "'": "'" };
