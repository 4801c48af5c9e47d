import { isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import type { Diagnostic } from '../model/diagnostic.ts';
import { mismatchFault, unknownKeyFault } from './yaml-faults.ts';
import { readYamlText, scalarText, type YamlText } from './yaml-text.ts';

/** A value and its offset in the text. */
export interface Item {
  readonly node: Node | null;
  readonly offset: number;
}

export interface Field extends Item {
  readonly key: string;
  readonly keyOffset: number;
}

type Fault = Pick<Diagnostic, 'severity' | 'code' | 'message'> & FaultDetails;

interface FaultDetails {
  readonly remedy?: string | undefined;
  readonly nearest?: string | undefined;
}

/**
 * Reads typed values from a YAML text, and records each fault at its place in the author's file. It
 * walks the syntax tree and follows aliases one by one, so that it never expands them all.
 */
export class YamlReader {
  readonly root: Item;
  readonly #file: string;
  readonly #linesBefore: number;
  readonly #text: YamlText;
  #faults: Diagnostic[] = [];
  #errors = 0;
  /** How many characters were read again through aliases. */
  #readAgain = 0;

  /** `linesBefore`: the number of lines of the file before the text. */
  constructor(file: string, text: string, linesBefore = 0) {
    this.#file = file;
    this.#linesBefore = linesBefore;
    this.#text = readYamlText(text);
    const { contents, faults } = this.#text;
    for (const { offset, message, ...details } of faults) {
      this.error('yaml', offset, message, details);
    }
    this.root = { node: contents, offset: contents?.range?.[0] ?? 0 };
  }

  /** Returns the faults since the last call. */
  takeFaults(): readonly Diagnostic[] {
    const taken = this.#faults;
    this.#faults = [];
    this.#errors = 0;
    return taken;
  }

  errorCount(): number {
    return this.#errors;
  }

  error(code: string, offset: number, message: string, details: FaultDetails = {}): undefined {
    this.note(offset, { severity: 'error', code, message, ...details });
  }

  warn(code: string, offset: number, message: string, details: FaultDetails = {}): undefined {
    this.note(offset, { severity: 'warning', code, message, ...details });
  }

  note(offset: number, { remedy, nearest: meant, ...fault }: Fault): undefined {
    if (fault.severity === 'error') this.#errors += 1;
    this.#faults.push({
      ...fault,
      file: this.#file,
      ...this.#position(offset),
      ...(remedy === undefined ? {} : { remedy }),
      ...(meant === undefined ? {} : { nearest: meant }),
    });
  }

  unknownKey(field: Field, known: Iterable<string>, where: string): undefined {
    const fault = unknownKeyFault(field.key, [...known], where);
    this.note(field.keyOffset, { severity: 'warning', ...fault });
  }

  mismatch(item: Item, what: string, expected: string): undefined {
    const fault = mismatchFault(what, expected, this.#follow(item.node));
    this.note(item.offset, { severity: 'error', ...fault });
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

  isMap(item: Item): boolean {
    return isMap(this.#follow(item.node));
  }

  isEmpty(item: Item): boolean {
    const node = this.#follow(item.node);
    return node === null || (isScalar(node) && node.value === null);
  }

  lineOf(offset: number): number {
    return this.#position(offset).line;
  }

  /** The line on which the content of a text begins: a block begins below its `|`. */
  contentLine(item: Item): number {
    const node = this.#follow(item.node);
    const block = isScalar(node) && node.type?.startsWith('BLOCK_');
    return this.lineOf(node?.range?.[0] ?? item.offset) + (block ? 1 : 0);
  }

  /** A few aliases to a large text can expand to more than fits into memory. */
  #follow(node: Node | null): Node | null {
    const meant = node === null ? undefined : this.#text.aliases.get(node);
    if (!meant) return node;
    this.#readAgain += lengthOf(meant);
    if (this.#readAgain <= MOST_READ_AGAIN) return meant;
    if (this.#readAgain - lengthOf(meant) <= MOST_READ_AGAIN) {
      const message = 'The aliases of this YAML expand to too much text.';
      this.error('yaml', node?.range?.[0] ?? 0, message, { remedy: 'Use fewer aliases (*).' });
    }
    return null;
  }

  /** The start of a value. An empty value is reported at its key. */
  #start(node: Node | null): number | undefined {
    const range = node?.range;
    return range && range[1] > range[0] ? range[0] : undefined;
  }

  #position(offset: number): { line: number; column: number } {
    const { line, column } = this.#text.position(offset);
    return { line: line + this.#linesBefore, column };
  }
}

export function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

/** In characters of the text. */
const MOST_READ_AGAIN = 1024 * 1024;

function lengthOf({ range }: Node): number {
  return range ? range[2] - range[0] : 1;
}
