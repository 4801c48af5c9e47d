/**
 * Reads the syntax of a YAML text. For any text, the result is a tree or a list of faults with
 * their places, in time linear in the length.
 */
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  type ParsedNode,
  Parser,
  visit,
  type YAMLMap,
} from 'yaml';

export interface YamlText {
  readonly contents: ParsedNode | null;
  /** Comments before and after the contents, which belong to no node. */
  readonly comments: readonly [before: string | null, after: string | null];
  readonly faults: readonly YamlFault[];
  /** The node of each alias. */
  readonly aliases: ReadonlyMap<Node, Node>;
  /** From 1. */
  position(offset: number): { readonly line: number; readonly column: number };
}

interface YamlFault {
  readonly offset: number;
  readonly message: string;
  readonly remedy?: string;
}

export function readYamlText(text: string): YamlText {
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const aliases = new Map<Node, Node>();
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    // For an empty text, which has no lines, the counter returns 0.
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // Composing recurses. Very deep nesting would end the process, not only the call.
  if (isDeeperThan(MAX_DEPTH, tokens)) {
    const faults = [{ offset: 0, message: TOO_DEEP }];
    return { contents: null, comments: [null, null], faults, aliases, position };
  }
  const composer = new Composer(OPTIONS);
  const [document, another] = [...composer.compose(tokens, true, text.length)];
  const contents = document?.contents ?? null;
  const faults = [
    ...syntaxFaults(document),
    ...(another ? [secondDocument(another)] : []),
    ...(contents ? [...aliasFaults(contents, aliases), ...repeatedKeys(contents)] : []),
  ];
  const comments = [document?.commentBefore ?? null, document?.comment ?? null] as const;
  return { contents, comments, faults, aliases, position };
}

/** A scalar as it was written. */
export function scalarText(node: Node | null): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
}

export const MAX_DEPTH = 50;
export const TOO_DEEP = `This YAML is nested more than ${MAX_DEPTH} levels deep.`;

/**
 * The library compares each key with all keys before it. So this file looks for repeated keys
 * itself.
 */
const OPTIONS = { prettyErrors: false, uniqueKeys: false, logLevel: 'silent' } as const;

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

/** More faults would not help the author. */
const MOST_FAULTS = 100;

function syntaxFaults(document: Document.Parsed | undefined): readonly YamlFault[] {
  const found = [...(document?.errors ?? []), ...(document?.warnings ?? [])];
  return found.slice(0, MOST_FAULTS).map(({ pos, message }) => ({
    offset: pos[0],
    message: `This is not valid YAML: ${message}.`,
  }));
}

function secondDocument({ range }: Document.Parsed): YamlFault {
  return {
    offset: range[0],
    message: 'A second YAML document begins here.',
    remedy: 'Keep one document.',
  };
}

function aliasFaults(contents: Node, aliases: Map<Node, Node>): readonly YamlFault[] {
  const anchors = new Map<string, Node>();
  const faults: YamlFault[] = [];
  visit(contents, {
    Node: (_, node, path) => {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        return;
      }
      const meant = anchors.get(node.source);
      const offset = node.range?.[0] ?? 0;
      if (!meant) faults.push({ offset, message: `There is no anchor &${node.source} above.` });
      else if (path.includes(meant)) {
        faults.push({ offset, message: `The value of &${node.source} contains itself.` });
      } else aliases.set(node, meant);
    },
  });
  return faults.slice(0, MOST_FAULTS);
}

function repeatedKeys(contents: Node): readonly YamlFault[] {
  const faults: YamlFault[] = [];
  visit(contents, {
    Map: (_, map: YAMLMap) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = isNode(key) ? scalarText(key) : undefined;
        if (name === undefined) continue;
        if (seen.has(name) && isNode(key)) {
          const message = 'This is not valid YAML: Map keys must be unique.';
          faults.push({ offset: key.range?.[0] ?? 0, message });
        }
        seen.add(name);
      }
    },
  });
  return faults.slice(0, MOST_FAULTS);
}
