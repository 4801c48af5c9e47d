/**
 * Where the cursor is in a YAML text that may be incomplete: the path of keys above it, and whether a key or a
 * value belongs there. It reads indentation and brackets, and nothing else of YAML.
 */

import { MAX_DEPTH } from '../parse/yaml-text.ts';

export type YamlSpot = {
  readonly path: readonly Step[];
  /** Where the word begins that the cursor is in. */
  readonly from: number;
  /** The other keys of the map, with their values as written. */
  readonly siblings: ReadonlyMap<string, string>;
} /** A key of the map at `path`. */ & (
  | { readonly kind: 'key' }
  /** The value at `path`. */
  | { readonly kind: 'value' }
  /** A text of several lines: the value at `path`. */
  | { readonly kind: 'text' }
);

export type Step = string | number;

export function yamlSpot(text: string, at: number): YamlSpot | undefined {
  const frames: Frame[] = [newFrame(0, [], false)];
  let block: Value | undefined;
  for (let start = 0; start <= at; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const isLast = at <= end;
    const line = text.slice(start, isLast ? at : end).replace(/\r$/, '');
    const indent = line.length - line.trimStart().length;
    const isText = line.trim() !== '' || isLast;
    let next = end + 1;
    if (block && isText && indent <= block.from) block = undefined;
    if (block && isLast) return { kind: 'text', path: block.path, from: at, siblings: new Map() };
    if (!block && isText && (isLast || !line.trimStart().startsWith('#'))) {
      const read = readLine(frames, line, indent, start);
      const inside = read.flow && flowSpot(text, read.flow, at);
      if (typeof inside === 'object') return inside;
      if (isLast) return inside === undefined ? lineSpot(read, line, start, text, end) : undefined;
      if (inside !== undefined && inside > end) {
        const after = text.indexOf('\n', inside);
        if (after < 0 || after >= at) return undefined;
        next = after + 1;
      }
      block = read.block;
    }
    start = next;
  }
  return undefined;
}

/** A value that begins at an offset or, of a text of several lines, below a column. */
interface Value {
  readonly from: number;
  readonly path: readonly Step[];
}

interface Frame {
  /** The column of its keys or dashes. */
  readonly indent: number;
  readonly path: readonly Step[];
  readonly isList: boolean;
  readonly entries: Map<string, string>;
  lastKey: string;
  count: number;
}

const newFrame = (indent: number, path: readonly Step[], isList: boolean): Frame => ({
  ...{ indent, path, isList, entries: new Map(), lastKey: '', count: 0 },
});

interface LineReading {
  readonly frame: Frame;
  /** The column after the dashes of list items. */
  readonly column: number;
  readonly key?: string;
  /** The column of the value. */
  readonly value?: number;
  readonly block?: Value;
  readonly flow?: Value;
}

function readLine(frames: Frame[], line: string, indent: number, start: number): LineReading {
  const isDash = (column: number) => /^-(?:\s|$)/.test(line.slice(column));
  const top = () => frames.at(-1) ?? newFrame(0, [], false);
  while (
    frames.length > 1 &&
    (top().indent > indent || (top().indent === indent && top().isList && !isDash(indent)))
  )
    frames.pop();
  let column = indent;
  let isNew = false;
  while (isDash(column) && frames.length <= MAX_DEPTH) {
    if (!(top().isList && top().indent === column && !isNew)) {
      frames.push(newFrame(column, isNew ? itemOf(top()) : newestValue(top()), true));
    }
    top().count++;
    isNew = true;
    column += 1;
    while (line.charAt(column) === ' ') column++;
  }
  const isDeeper = column > top().indent || top().isList;
  if (isNew) frames.push(newFrame(column, itemOf(top()), false));
  else if (isDeeper && !isEmptyRoot(frames))
    frames.push(newFrame(column, newestValue(top()), false));
  const frame = top();
  const rest = line.slice(column);
  if (/^[[{]/.test(rest))
    return { frame, column, flow: { from: start + column, path: frame.path } };
  const [whole, quoted, plain] = KEY.exec(rest) ?? [];
  if (whole === undefined) return { frame, column };
  const key = quoted?.slice(1, -1) ?? plain ?? '';
  const written = rest.slice(whole.length);
  const value = column + whole.length + (written.length - written.trimStart().length);
  frame.entries.set(key, written.trim());
  frame.lastKey = key;
  const path = [...frame.path, key];
  const found = { frame, column, key, value };
  if (/^[|>]/.test(written.trim())) return { ...found, block: { from: column, path } };
  if (/^[[{]/.test(written.trim())) return { ...found, flow: { from: start + value, path } };
  return found;
}

const KEY = /^(?:("[^"]*"|'[^']*')|([^\s"'#[\]{},&*!|>%@`-][^:#]*?|-[^\s:#][^:#]*?))\s*:(?=\s|$)/;

const isEmptyRoot = (frames: readonly Frame[]) =>
  frames.length === 1 && frames[0]?.entries.size === 0;

/** The path of the value of the newest key. */
const newestValue = ({ isList, path, lastKey, count }: Frame): readonly Step[] =>
  isList ? [...path, count - 1] : lastKey === '' ? path : [...path, lastKey];

const itemOf = ({ path, count }: Frame): readonly Step[] => [...path, count - 1];

function lineSpot(
  { frame, column, key, value }: LineReading,
  line: string,
  start: number,
  text: string,
  end: number,
): YamlSpot {
  const siblings = new Map([...frame.entries, ...entriesAfter(text, end + 1, frame.indent)]);
  if (key === undefined || value === undefined)
    return { kind: 'key', path: frame.path, from: start + column, siblings };
  const from = start + Math.min(line.length, value);
  return { kind: 'value', path: [...frame.path, key], from, siblings };
}

/** The keys of the same map in the lines that follow. */
function entriesAfter(
  text: string,
  from: number,
  indent: number,
): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  for (
    let start = from, lines = 0;
    start > 0 && start < text.length && lines < MOST_LINES;
    lines++
  ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end).trimEnd();
    const own = line.length - line.trimStart().length;
    if (line !== '' && own < indent) break;
    const [whole, quoted, plain] = own === indent ? (KEY.exec(line.slice(own)) ?? []) : [];
    if (whole !== undefined)
      found.push([quoted?.slice(1, -1) ?? plain ?? '', line.slice(own + whole.length).trim()]);
    start = end + 1;
  }
  return found;
}

const MOST_LINES = 200;

interface FlowFrame {
  readonly isList: boolean;
  readonly path: readonly Step[];
  readonly entries: Map<string, string>;
  key: string | undefined;
  count: number;
}

/** The offset at which the brackets that open at `from` are closed, if that is before `at`. */
function flowSpot(text: string, { from, path }: Value, at: number): YamlSpot | number | undefined {
  const frames: FlowFrame[] = [];
  let word = from;
  let isBegun = false;
  const begin = (offset: number) => {
    word = offset;
    isBegun = false;
  };
  const top = () => frames.at(-1);
  const finish = (end: number) => {
    const frame = top();
    if (frame?.key !== undefined) frame.entries.set(frame.key, text.slice(word, end).trim());
  };
  for (let i = from; i < at; i++) {
    const char = text.charAt(i);
    const frame = top();
    if (char === '{' || char === '[') {
      if (frames.length > MAX_DEPTH) return undefined;
      const inner = frame ? innerPath(frame) : path;
      const fresh = { isList: char === '[', path: inner, entries: new Map(), key: undefined };
      frames.push({ ...fresh, count: 0 });
      begin(i + 1);
    } else if (char === '}' || char === ']') {
      finish(i);
      frames.pop();
      if (frames.length === 0) return i;
      begin(i + 1);
    } else if (char === ',') {
      finish(i);
      if (frame) {
        frame.key = undefined;
        frame.count++;
      }
      begin(i + 1);
    } else if (char === ':' && frame && !frame.isList && /[\s,{}[\]]|^$/.test(text.charAt(i + 1))) {
      frame.key ??= text
        .slice(word, i)
        .trim()
        .replace(/^["']|["']$/g, '');
      begin(i + 1);
    } else if ((char === '"' || char === "'") && !isBegun) {
      const end = text.indexOf(char, i + 1);
      if (end < 0 || end >= at) break;
      i = end;
    } else if (char === '#' && /\s/.test(text.charAt(i - 1))) {
      const end = text.indexOf('\n', i);
      if (end < 0 || end >= at) break;
      i = end;
    } else if (!/\s/.test(char)) isBegun = true;
  }
  const frame = top();
  if (!frame) return undefined;
  const begun = text.slice(word, at);
  const start = word + begun.length - begun.trimStart().length;
  const siblings = frame.entries;
  if (!frame.isList && frame.key === undefined)
    return { kind: 'key', path: frame.path, from: start, siblings };
  return { kind: 'value', path: innerPath(frame), from: start, siblings };
}

const innerPath = ({ isList, path, key, count }: FlowFrame): readonly Step[] => [
  ...path,
  isList ? count : (key ?? ''),
];
