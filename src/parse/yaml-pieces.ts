/** Parts of YAML texts, moved to other texts. Comments, quotes and the form of numbers stay as written. */
import {
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  Pair,
  Scalar,
  YAMLMap,
  YAMLSeq,
} from 'yaml';
import { type Converted, differenceOf, type Reading } from './same-workflow.ts';
import { readYamlText, scalarText, type YamlText } from './yaml-text.ts';

/** A key with its value. */
export interface Piece {
  readonly key: string;
  readonly pair: Pair;
}

/** The keys of a text whose root is a map. The text must have no faults. */
export function piecesOf(text: string): readonly Piece[] {
  const yaml = readYamlText(text);
  const contents = copier(yaml)(yaml.contents);
  if (!isMap(contents)) return [];
  const [before, after] = yaml.comments;
  contents.commentBefore = joined(before, contents.commentBefore);
  contents.comment = joined(contents.comment, after);
  return piecesIn(contents);
}

/** The keys of a value; none if it is not a map. */
export function piecesBelow({ pair }: Piece): readonly Piece[] {
  return isMap(pair.value) ? piecesIn(pair.value) : [];
}

export function textPiece(key: string, text: string): Piece {
  const value = new Scalar(text);
  const isBlock = /\S/.test(text) && !/[\uFEFF\u0085\u2028\u2029]/.test(text);
  value.type = isBlock ? 'BLOCK_LITERAL' : 'QUOTE_DOUBLE';
  return { key, pair: new Pair(new Scalar(key), value) };
}

export function mapPiece(key: string, pieces: readonly Piece[]): Piece {
  return { key, pair: new Pair(new Scalar(key), mapOfPieces(pieces)) };
}

/** A YAML text with these keys. */
export function writePieces(pieces: readonly Piece[]): string {
  if (pieces.length === 0) return '';
  const document = new Document(undefined, { customTags: (tags) => [AS_WRITTEN, ...tags] });
  document.contents = mapOfPieces(pieces);
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

/** The new form of a workflow if it means the same. Refuses texts whose aliases expand to too much. */
export function converted<T>(
  before: Reading,
  make: () => T,
  reread: (value: T) => Reading,
): Converted<T> {
  try {
    const value = make();
    const difference = differenceOf(before, reread(value));
    return difference === undefined ? { ok: true, value } : { ok: false, reason: difference };
  } catch (error) {
    if (!(error instanceof TooManyAliases)) throw error;
    return { ok: false, reason: 'The aliases (*) in its YAML expand to too much text.' };
  }
}

class TooManyAliases extends Error {}

function piecesIn({ items, commentBefore, comment }: YAMLMap): readonly Piece[] {
  // Comments at the start and at the end of a map move with its first and its last key.
  const [first, last] = [items[0]?.key, items.at(-1)?.value];
  if (isNode(first)) first.commentBefore = joined(commentBefore, first.commentBefore);
  if (isNode(last)) last.comment = joined(last.comment, comment);
  return items.flatMap((pair) => {
    const key = isNode(pair.key) ? scalarText(pair.key) : undefined;
    return key === undefined ? [] : [{ key, pair }];
  });
}

const joined = (...comments: readonly (string | null | undefined)[]): string | null =>
  comments.filter((comment) => comment).join('\n') || null;

function mapOfPieces(pieces: readonly Piece[]): YAMLMap {
  const map = new YAMLMap();
  for (const { pair } of pieces) map.items.push(pair);
  return map;
}

const MOST_COPIES = 100_000;
const MOST_DEPTH = 200;

/** Copies nodes. Another text lacks the anchors of this one, so it copies what an alias means. */
function copier({ aliases }: YamlText): (node: unknown, depth?: number) => Node | null {
  let left = MOST_COPIES;
  const copy = (node: unknown, depth = 0): Node | null => {
    if (!isNode(node)) return null;
    left -= 1;
    if (left < 0 || depth > MOST_DEPTH) throw new TooManyAliases();
    if (isAlias(node)) return copy(aliases.get(node), depth + 1);
    if (isMap(node)) {
      const items = node.items.map(
        ({ key, value }) => new Pair(copy(key, depth + 1), copy(value, depth + 1)),
      );
      return Object.assign(new YAMLMap(), looksOf(node), { items });
    }
    if (isSeq(node)) {
      const items = node.items.map((item) => copy(item, depth + 1));
      return Object.assign(new YAMLSeq(), looksOf(node), { items });
    }
    return isScalar(node) ? copyOfScalar(node) : null;
  };
  return copy;
}

function looksOf({ flow, comment, commentBefore, spaceBefore }: YAMLMap | YAMLSeq) {
  return { flow, comment, commentBefore, spaceBefore };
}

function copyOfScalar(node: Scalar): Scalar {
  const { value, source, type, comment, commentBefore, spaceBefore } = node;
  const isText = typeof value === 'string' || value === null || source === undefined;
  const copy = new Scalar(isText ? value : new AsWritten(source));
  return Object.assign(copy, { source, type, comment, commentBefore, spaceBefore });
}

/** A number or a truth value, which the author may have meant as a text. */
class AsWritten {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

const AS_WRITTEN = {
  tag: 'tag:yaml.org,2002:as-written',
  default: true,
  identify: (value: unknown) => value instanceof AsWritten,
  resolve: (text: string) => text,
  test: /^(?!)/,
  stringify: ({ value }: { value?: unknown }) => (value instanceof AsWritten ? value.source : ''),
} as const;
