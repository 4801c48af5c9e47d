import { isMap, isNode, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Position, TextPlace } from '../model/workflow.ts';
import { contentPlace } from './content-place.ts';
import { mismatchFault, missingFault, unknownKeyFault } from './yaml-faults.ts';
import { fitsKind, type NumberKind } from './yaml-numbers.ts';
import { MAX_DEPTH, readYamlText, scalarText, TOO_DEEP, type YamlText } from './yaml-text.ts';

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
  readonly #source: string;
  readonly #text: YamlText;
  #faults: Diagnostic[] = [];
  #errors = 0;
  /** How many characters were read again through aliases. */
  #readAgain = 0;

  /** `linesBefore`: the number of lines of the file before the text. */
  constructor(file: string, text: string, linesBefore = 0) {
    this.#file = file;
    this.#linesBefore = linesBefore;
    this.#source = text;
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

  unknownKey(
    field: Field,
    known: Iterable<string>,
    where: string,
    severity: 'warning' | 'error' = 'warning',
  ): undefined {
    this.note(field.keyOffset, { severity, ...unknownKeyFault(field.key, [...known], where) });
  }

  missing(item: Item, what: string, expected: string): undefined {
    this.note(item.offset, { severity: 'error', ...missingFault(what, expected) });
  }

  mismatch(item: Item, what: string, expected: string): undefined {
    const fault = mismatchFault(what, expected, this.#follow(item.node));
    this.note(item.offset, { severity: 'error', ...fault });
  }

  /** The keys of a map. With `known`, warns of others. */
  fields(
    item: Item,
    what: string,
    expected: string,
    known?: readonly string[],
  ): readonly Field[] | undefined {
    const node = this.#follow(item.node);
    if (!isMap(node)) return this.mismatch(item, what, expected);
    const fields = this.#fieldsIn(node, item.offset, what);
    if (known)
      for (const field of fields)
        if (!known.includes(field.key)) this.unknownKey(field, known, what);
    return fields;
  }

  items(item: Item, what: string, expected: string): readonly Item[] | undefined {
    const node = this.#follow(item.node);
    return isSeq(node) ? this.#itemsIn(node, item.offset) : this.mismatch(item, what, expected);
  }

  /** The entries of a list that may be empty. */
  entries(field: Field, expected: string): readonly Item[] {
    return this.isEmpty(field) ? [] : (this.items(field, field.key, expected) ?? []);
  }

  /** Any scalar, as it was written. */
  text(item: Item, what: string, expected = 'text'): string | undefined {
    return scalarText(this.#follow(item.node)) ?? this.mismatch(item, what, expected);
  }

  number(item: Item, what: string, kind: NumberKind): number | undefined {
    const node = this.#follow(item.node);
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'number' && fitsKind(value, kind)) return value;
    return this.mismatch(item, what, kind.expected);
  }

  boolean(item: Item, what: string): boolean | undefined {
    const node = this.#follow(item.node);
    if (isScalar(node) && typeof node.value === 'boolean') return node.value;
    return this.mismatch(item, what, 'true or false');
  }

  /** Everything in it as plain data, with the aliases expanded. It ends at the first error. */
  value(item: Item, what: string, depth = 0): unknown {
    if (this.#errors > 0) return undefined;
    if (depth > MAX_DEPTH) return this.error('yaml', item.offset, TOO_DEEP);
    const node = this.#follow(item.node);
    if (isMap(node)) {
      const fields = this.#fieldsIn(node, item.offset, what);
      return Object.fromEntries(
        fields.map((field) => [field.key, this.value(field, field.key, depth + 1)]),
      );
    }
    if (isSeq(node)) {
      return this.#itemsIn(node, item.offset).map((inner) => this.value(inner, what, depth + 1));
    }
    return isScalar(node) ? node.value : null;
  }

  /** The value at a path of keys and positions. If it does not exist, the place where it would be. */
  itemAt(path: readonly PropertyKey[], from = this.root): Item {
    let item = from;
    for (const step of path) {
      const { offset } = item;
      const node = this.#meant(item.node);
      const inner: Item | undefined = isSeq(node)
        ? this.#itemsIn(node, offset)[Number(step)]
        : this.fieldIn(item, String(step));
      item = inner ?? { node: null, offset };
    }
    return item;
  }

  /** The field of a map with this key. */
  fieldIn(item: Item, key: string): Field | undefined {
    const node = this.#meant(item.node);
    const fields = isMap(node) ? this.#fieldsIn(node, item.offset, key) : [];
    return fields.find((field) => field.key === key);
  }

  isMap(item: Item): boolean {
    return isMap(this.#follow(item.node));
  }

  isList(item: Item): boolean {
    return isSeq(this.#follow(item.node));
  }

  isEmpty(item: Item): boolean {
    const node = this.#follow(item.node);
    return node === null || (isScalar(node) && node.value === null);
  }

  positionOf(offset: number): Position {
    return this.#position(offset);
  }

  /** Where the content of a text begins. */
  contentPlace(item: Item, text: string): Omit<TextPlace, 'file'> {
    const node = this.#follow(item.node);
    const position = (offset: number) => this.#position(offset);
    if (!isScalar(node)) return position(item.offset);
    return contentPlace(this.#source, node, text, position);
  }

  #fieldsIn({ items }: YAMLMap, offset: number, what: string): readonly Field[] {
    return items.flatMap(({ key, value }) => {
      const keyOffset = (isNode(key) ? key.range?.[0] : undefined) ?? offset;
      const name = isNode(key) ? scalarText(this.#meant(key)) : undefined;
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

  #itemsIn({ items }: YAMLSeq, offset: number): readonly Item[] {
    return items.map((inner) =>
      isNode(inner)
        ? { node: inner, offset: this.#start(inner) ?? offset }
        : { node: null, offset },
    );
  }

  /** The value of an alias, or the node itself. */
  #meant(node: Node | null): Node | null {
    return (node && this.#text.aliases.get(node)) ?? node;
  }

  /** A few aliases to a large text can expand to more than fits into memory. */
  #follow(node: Node | null): Node | null {
    const meant = this.#meant(node);
    if (!meant || meant === node) return node;
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

  #position(offset: number): Position {
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
