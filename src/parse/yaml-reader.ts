import {
  Composer,
  type CST,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Parser,
  visit,
} from 'yaml';
import type { Diagnostic } from '../model/diagnostic.ts';
import { clip } from './clip.ts';
import { nearest } from './nearest.ts';

/** A value and where it stands, as an offset into the text. */
export interface Item {
  readonly node: Node | null;
  readonly offset: number;
}

export interface Field extends Item {
  readonly key: string;
  readonly keyOffset: number;
}

interface FaultDetails {
  readonly remedy?: string;
  readonly nearest?: string | undefined;
}

/**
 * Reads typed values out of a YAML text and notes each fault at its place in the author's file. It
 * walks the syntax tree and follows aliases where they stand, so nothing is ever expanded.
 */
export class YamlReader {
  readonly root: Item;
  readonly #file: string;
  readonly #linesBefore: number;
  readonly #lines = new LineCounter();
  readonly #aliases = new Map<Node, Node>();
  #faults: Diagnostic[] = [];

  /** `linesBefore`: how many lines of the file stand before the text. */
  constructor(file: string, text: string, linesBefore = 0) {
    this.#file = file;
    this.#linesBefore = linesBefore;
    const node = this.#parse(text);
    this.root = { node, offset: node?.range?.[0] ?? 0 };
  }

  /** The faults since this was last asked. */
  takeFaults(): readonly Diagnostic[] {
    const taken = this.#faults;
    this.#faults = [];
    return taken;
  }

  errorCount(): number {
    return this.#faults.filter(isError).length;
  }

  error(code: string, offset: number, message: string, details: FaultDetails = {}): undefined {
    this.#note('error', code, offset, message, details);
  }

  warn(code: string, offset: number, message: string, details: FaultDetails = {}): undefined {
    this.#note('warning', code, offset, message, details);
  }

  unknownKey(field: Field, known: Iterable<string>, where: string): undefined {
    const names = [...known];
    const meant = nearest(field.key, names);
    this.warn('unknown-key', field.keyOffset, `${where} has no key "${field.key}".`, {
      remedy: meant ? `Did you mean ${meant}?` : `The keys are ${names.join(', ')}.`,
      nearest: meant,
    });
  }

  mismatch(item: Item, what: string, expected: string): undefined {
    this.error(
      'bad-value',
      item.offset,
      `${what} must be ${expected}, but here is ${this.#describe(item)}.`,
      { remedy: `Write ${expected}.` },
    );
  }

  fields(item: Item, what: string, expected: string): readonly Field[] | undefined {
    const node = this.#follow(item.node);
    if (!isMap(node)) return this.mismatch(item, what, expected);
    return node.items.flatMap(({ key, value }) => {
      const keyOffset = (isNode(key) ? key.range?.[0] : undefined) ?? item.offset;
      const name = isNode(key) ? scalarText(this.#follow(key)) : undefined;
      if (name === undefined) {
        this.error('bad-key', keyOffset, `A key of ${what} is not a plain word.`, {
          remedy: 'Write key: value.',
        });
        return [];
      }
      const inner = isNode(value) ? value : null;
      return [{ key: name, keyOffset, node: inner, offset: this.#start(inner) ?? keyOffset }];
    });
  }

  items(item: Item, what: string, expected: string): readonly Item[] | undefined {
    const node = this.#follow(item.node);
    if (!isSeq(node)) return this.mismatch(item, what, expected);
    return node.items.map((inner) =>
      isNode(inner)
        ? { node: inner, offset: this.#start(inner) ?? item.offset }
        : { node: null, offset: item.offset },
    );
  }

  /** Any scalar, as it was written. */
  text(item: Item, what: string, expected = 'text'): string | undefined {
    return scalarText(this.#follow(item.node)) ?? this.mismatch(item, what, expected);
  }

  number(
    item: Item,
    what: string,
    expected: string,
    fits: (value: number) => boolean,
  ): number | undefined {
    const node = this.#follow(item.node);
    if (isScalar(node) && typeof node.value === 'number' && fits(node.value)) return node.value;
    return this.mismatch(item, what, expected);
  }

  boolean(item: Item, what: string): boolean | undefined {
    const node = this.#follow(item.node);
    if (isScalar(node) && typeof node.value === 'boolean') return node.value;
    return this.mismatch(item, what, 'true or false');
  }

  isEmpty(item: Item): boolean {
    const node = this.#follow(item.node);
    return node === null || (isScalar(node) && node.value === null);
  }

  lineOf(offset: number): number {
    return this.#position(offset).line;
  }

  /** The line on which the content of a text begins: that of a block stands below its `|`. */
  contentLine(item: Item): number {
    const node = this.#follow(item.node);
    const block = isScalar(node) && node.type?.startsWith('BLOCK_');
    return this.lineOf(node?.range?.[0] ?? item.offset) + (block ? 1 : 0);
  }

  #parse(text: string): Node | null {
    const tokens = [...new Parser(this.#lines.addNewLine).parse(text)];
    // Composing recurses, and far enough down it ends the process, not only the call.
    if (isDeeperThan(MAX_DEPTH, tokens)) {
      this.error('yaml', 0, `This YAML is nested more than ${MAX_DEPTH} levels deep.`);
      return null;
    }
    const composer = new Composer({ lineCounter: this.#lines, prettyErrors: false });
    const [document, another] = [...composer.compose(tokens, true, text.length)];
    for (const fault of [...(document?.errors ?? []), ...(document?.warnings ?? [])]) {
      this.error('yaml', fault.pos[0], `This is not valid YAML: ${fault.message}.`);
    }
    if (another) {
      this.error('yaml', another.range[0], 'A second YAML document begins here.', {
        remedy: 'Keep one.',
      });
    }
    const contents = document?.contents ?? null;
    if (contents) this.#learnAliases(contents);
    return contents;
  }

  #learnAliases(contents: Node): void {
    const anchors = new Map<string, Node>();
    visit(contents, {
      Node: (_, node) => {
        if (!isAlias(node)) {
          if (node.anchor !== undefined) anchors.set(node.anchor, node);
          return;
        }
        const meant = anchors.get(node.source);
        if (meant) this.#aliases.set(node, meant);
        else this.error('yaml', node.range?.[0] ?? 0, `There is no anchor &${node.source} above.`);
      },
    });
  }

  #follow(node: Node | null): Node | null {
    return node === null ? null : (this.#aliases.get(node) ?? node);
  }

  /** Where a value was begun; an empty one is better shown at its key. */
  #start(node: Node | null): number | undefined {
    const range = node?.range;
    return range && range[1] > range[0] ? range[0] : undefined;
  }

  #describe(item: Item): string {
    const node = this.#follow(item.node);
    if (isMap(node)) return 'a map';
    if (isSeq(node)) return 'a list';
    if (!isScalar(node) || node.value === null) return 'nothing';
    const text = clip(scalarText(node) ?? '');
    return typeof node.value === 'string' ? `the text "${text}"` : text;
  }

  #position(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset);
    // An empty text has no lines at all, and then the counter answers with 0.
    return { line: Math.max(1, line) + this.#linesBefore, column: Math.max(1, col) };
  }

  #note(
    severity: Diagnostic['severity'],
    code: string,
    offset: number,
    message: string,
    { remedy, nearest: meant }: FaultDetails,
  ): void {
    this.#faults.push({
      severity,
      code,
      file: this.#file,
      ...this.#position(offset),
      message,
      ...(remedy === undefined ? {} : { remedy }),
      ...(meant === undefined ? {} : { nearest: meant }),
    });
  }
}

export function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

const MAX_DEPTH = 50;

function isDeeperThan(most: number, tokens: readonly CST.Token[]): boolean {
  const open = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next; next = open.pop()) {
    const { token, depth } = next;
    if (depth > most) return true;
    for (const inner of tokensIn(token)) open.push({ token: inner, depth: depth + 1 });
  }
  return false;
}

function tokensIn(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value ? [token.value] : [];
  if (!('items' in token)) return [];
  return token.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat());
}

function scalarText(node: Node | null): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
}
