/** What people read in a TypeScript or JavaScript file: its comments, messages and test titles. */
import type { Comment, ParseResult } from 'oxc-parser';
import { markdownPassages } from './markdown.ts';
import type { Passage } from './passage.ts';

interface Node {
  readonly type: string;
  readonly start: number;
}

/** In a test only the titles count: its other strings are what the tested code is given. */
export function sourcePassages(
  { program, comments }: Pick<ParseResult, 'program' | 'comments'>,
  text: string,
  kind: 'source' | 'test',
): readonly Passage[] {
  const lineOf = lineFinder(text);
  const said = kind === 'test' ? titlesIn(program) : messagesIn(program);
  return [
    ...commentPassages(comments, text, lineOf),
    ...said.map(({ start, value }) => ({ line: lineOf(start), text: value })),
  ].sort((a, b) => a.line - b.line);
}

/** Comments that begin with `#` and fill their line, as in shell and YAML files. Indented ones are code. */
export function hashComments(text: string): readonly Passage[] {
  const lines = text
    .split('\n')
    .map((line) => /^\s*#(?!!)(?: {0,2}(?! )(.*))?/.exec(line)?.[1] ?? '');
  return markdownPassages(lines.join('\n'));
}

/** Line comments on successive lines are one text, in which lists and blank lines count as in markdown. */
function commentPassages(
  comments: readonly Comment[],
  text: string,
  lineOf: (at: number) => number,
): readonly Passage[] {
  const passages: { line: number; text: string; end: number }[] = [];
  for (const { type, value, start, end } of comments) {
    if (text.startsWith('#!', start) || /^\s*(?:biome-ignore|@ts-)/.test(value)) continue;
    const last = passages.at(-1);
    const isNext = last !== undefined && /^\r?\n[ \t]*$/.test(text.slice(last.end, start));
    if (type === 'Line' && isNext) {
      last.text += `\n${value.trim()}`;
      last.end = end;
    } else {
      const lines = value.split('\n').map((line) => line.replace(/^\s*\*+(?=\s|$)/, '').trim());
      // A block comment never continues what stands before it, nor is it continued.
      passages.push({
        line: lineOf(start),
        text: lines.join('\n'),
        end: type === 'Line' ? end : text.length,
      });
    }
  }
  return passages.flatMap(({ line, text }) =>
    markdownPassages(text).map((part) => ({ ...part, line: part.line + line - 1 })),
  );
}

interface Said {
  readonly start: number;
  readonly value: string;
}

/** Strings that hold a sentence, wherever they stand; not those of types and imports. */
function messagesIn(node: Node): readonly Said[] {
  if (/^(?:TS.*Type|TSEnumMember|Import.*|ExportAllDeclaration)$/.test(node.type)) return [];
  const value = textOf(node);
  if (value === undefined) return children(node).flatMap(messagesIn);
  return [...(isSentence(value) ? [{ start: node.start, value }] : []), ...insideOf(node)];
}

/** A message may hold others, inside `${…}` or in a call that is a part of a sum. */
function insideOf(node: Node): readonly Said[] {
  if (node.type === 'TemplateLiteral') {
    return (node as TemplateLiteral).expressions.flatMap(messagesIn);
  }
  if (node.type !== 'BinaryExpression') return [];
  const { left, right } = node as Sum;
  return [left, right].flatMap((side) =>
    textOf(side) === undefined ? messagesIn(side) : insideOf(side),
  );
}

/** `test('…')`, `describe.each(rows)('…')`, and so on. */
function titlesIn(node: Node): readonly Said[] {
  const own: Said[] = [];
  const { callee, arguments: given } = node as {
    readonly callee?: Node;
    readonly arguments?: readonly Node[];
  };
  const [title] = given ?? [];
  if (node.type === 'CallExpression' && callee && title && isTestFunction(callee)) {
    const value = textOf(title);
    if (value !== undefined) own.push({ start: title.start, value });
  }
  return [...own, ...children(node).flatMap(titlesIn)];
}

function isTestFunction(node: Node): boolean {
  const { name, object, callee } = node as {
    readonly name?: string;
    readonly object?: Node;
    readonly callee?: Node;
  };
  if (node.type === 'Identifier') return ['test', 'it', 'describe'].includes(name ?? '');
  const inner = object ?? callee;
  return inner !== undefined && isTestFunction(inner);
}

/** A string, a template or a sum of them; values that are put in appear as one word. */
function textOf(node: Node): string | undefined {
  if (node.type === 'Literal') {
    const { value } = node as { readonly value?: unknown };
    return typeof value === 'string' ? value : undefined;
  }
  if (node.type === 'TemplateLiteral') {
    const { quasis } = node as TemplateLiteral;
    return quasis.map(({ value }) => value.cooked ?? value.raw).join('X');
  }
  if (node.type === 'BinaryExpression') {
    const { operator, left, right } = node as Sum;
    const parts = operator === '+' ? [textOf(left), textOf(right)] : [];
    return parts.some((part) => part !== undefined)
      ? parts.map((part) => part ?? 'X').join('')
      : undefined;
  }
  return undefined;
}

interface TemplateLiteral extends Node {
  readonly expressions: readonly Node[];
  readonly quasis: readonly {
    readonly value: { readonly raw: string; readonly cooked?: string };
  }[];
}

interface Sum extends Node {
  readonly operator: string;
  readonly left: Node;
  readonly right: Node;
}

/** Mostly plain words; so neither markup, nor a style sheet, nor a list of names. */
function isSentence(value: string): boolean {
  if (/^\s*<|[{};]\s*$/m.test(value)) return false;
  const words = value.split(/\s+/);
  const plain = words.filter((word) => /^["'(]?\p{L}?[\p{Ll}'’]+[)"',.:;!?]*$/u.test(word));
  return plain.length >= 2 && plain.length * 2 >= words.length;
}

function children(node: Node): readonly Node[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function lineFinder(text: string): (at: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (at) => starts.findLastIndex((start) => start <= at) + 1;
}
