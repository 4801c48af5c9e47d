/** The names of states in YAML: in front matter, in a manifest and in a workflow in one file. */
import { isMap, isScalar, isSeq, type Node, type Pair, type Scalar } from 'yaml';
import type { TextOfState } from '../graph/mentions.ts';
import { lastAtMost, lineStarts } from '../graph/position.ts';
import { type Extension, INTERPRETERS } from '../parse/state.ts';
import { STATE_ATTRIBUTES } from '../parse/transition.ts';
import { scalarText } from '../parse/yaml-text.ts';
import { FORMS } from '../parse/yaml-workflow.ts';
import type { NameUse } from './name-uses.ts';

type Found = Omit<NameUse, 'file'>;
type Contents = Node | null;

/** The keys of front matter that name states. */
export function namesInPolicy(contents: Contents): readonly Found[] {
  return fieldsOf(contents).flatMap(([key, value]) => {
    switch (key) {
      case 'allowed_transitions':
        return itemsOf(value).flatMap(namesInEntry);
      case 'evaluators':
        return itemsOf(value).flatMap((item) => [
          ...below(item, 'then').flatMap(namesInEntry),
          ...below(item, 'prompt').flatMap(nameAt),
        ]);
      case 'ensures':
        return itemsOf(value).flatMap((item) => [
          ...below(item, 'else').flatMap(namesInEntry),
          ...below(item, 'on').flatMap(itemsOf).flatMap(nameAfterTag),
        ]);
      case 'handover':
        return nameAt(value);
      default:
        return [];
    }
  });
}

export function namesInManifest(contents: Contents): readonly Found[] {
  return [
    ...below(contents, 'handover').flatMap(nameAt),
    ...below(contents, 'states').flatMap((states) => keysOf(states).flatMap(nameAt)),
  ];
}

/** `namesInTags` finds the names in the text of a state. */
export function namesInWorkflow(
  contents: Contents,
  source: string,
  namesInTags: (state: TextOfState) => readonly Found[],
): readonly Found[] {
  const states = below(contents, 'states').flatMap((node) => (isMap(node) ? node.items : []));
  const ofStates = states.flatMap(({ key, value }: Pair<unknown, unknown>) => {
    const name = nodeOf(key);
    const within = scalarText(name) ?? '';
    const definition = nameAt(name).map((use) => ({ ...use, kind: 'definition' as const }));
    const texts = fieldsOf(nodeOf(value)).flatMap(([form, text]) => {
      const extension = FORMS.get(form);
      const state = extension && isScalar(text) ? textOf(text, extension) : undefined;
      return state && isScalar(text) ? placed(namesInTags(state), text, source) : [];
    });
    return [...definition, ...[...namesInPolicy(nodeOf(value)), ...texts]].map((use) => ({
      ...use,
      within,
    }));
  });
  return [...below(contents, 'handover').flatMap(nameAt), ...ofStates];
}

function textOf(node: Scalar, extension: Extension): TextOfState | undefined {
  const text = scalarText(node);
  if (text === undefined) return undefined;
  return extension === '.md'
    ? { kind: 'prompt', template: text }
    : { kind: 'script', text, interpreter: INTERPRETERS[extension] };
}

/**
 * Moves places in the text of a state to the file. The lines of a literal block are those of the text, and so
 * is a single line. Of other forms, only the whole is known.
 */
function placed(uses: readonly Found[], node: Scalar, source: string): readonly Found[] {
  if (uses.length === 0) return [];
  const text = scalarText(node) ?? '';
  const [from = 0, to = 0] = node.range ?? [];
  const toFile =
    node.type === 'BLOCK_LITERAL' ? inBlock(source, from, text) : inLine(source, from, to, text);
  if (!toFile) return uses.map((use) => ({ ...use, from, to, isExact: false }));
  return uses.map((use) => ({ ...use, from: toFile(use.from), to: toFile(use.to) }));
}

function inLine(source: string, from: number, to: number, text: string) {
  const at = source.indexOf(text, from);
  return at < 0 || at + text.length > to ? undefined : (offset: number) => at + offset;
}

function inBlock(source: string, from: number, text: string): (offset: number) => number {
  const texts = lineStarts(text);
  const files = lineStarts(source, source.indexOf('\n', from) + 1, texts.length);
  return (offset) => {
    const line = lastAtMost(texts, offset);
    const start = files[line] ?? source.length;
    const end = source.indexOf('\n', start);
    const length = (texts[line + 1] ?? text.length + 1) - 1 - (texts[line] ?? 0);
    const written = (end < 0 ? source.length : end) - start - (source[end - 1] === '\r' ? 1 : 0);
    const indent = Math.max(0, written - length);
    return start + indent + offset - (texts[line] ?? 0);
  };
}

/** `{tag: call, target: X, return: Y}` */
function namesInEntry(item: Node): readonly Found[] {
  const tag = below(item, 'tag').map(scalarText)[0];
  const hasTarget = tag === undefined || TARGETLESS.every((one) => one !== tag);
  return fieldsOf(item).flatMap(([key, value]) => {
    const isName = (key === 'target' && hasTarget) || STATE_ATTRIBUTES.includes(key);
    return isName ? nameAt(value) : [];
  });
}

/** In a fork of another workflow, `target` would be a variable. */
const TARGETLESS = ['fork-workflow'];

/** `goto DEPLOY` */
function nameAfterTag(item: Node): readonly Found[] {
  return nameAt(item).flatMap((use) => {
    const [written = '', before = ''] = /^\s*(\S+\s+)(?=\S)/.exec(use.written) ?? [];
    if (before === '') return [];
    return [
      {
        ...use,
        written: use.written.slice(written.length).trim(),
        from: use.from + written.length,
      },
    ];
  });
}

/** A scalar as a name: inside of its quotes. */
function nameAt(node: Contents): readonly Found[] {
  const text = scalarText(node);
  if (text === undefined || !isScalar(node)) return [];
  const [from = 0, to = 0] = node.range ?? [];
  const quote = node.type === 'QUOTE_SINGLE' || node.type === 'QUOTE_DOUBLE' ? 1 : 0;
  const place = { from: from + quote, to: to - quote };
  return [{ ...place, written: text.trim(), kind: 'yaml', isExact: true }];
}

function fieldsOf(node: Contents): readonly (readonly [string, Node])[] {
  if (!isMap(node)) return [];
  return node.items.flatMap(({ key, value }) => {
    const name = scalarText(nodeOf(key));
    const inner = nodeOf(value);
    return name === undefined || !inner ? [] : [[name, inner] as const];
  });
}

const keysOf = (node: Contents) => (isMap(node) ? node.items.map(({ key }) => nodeOf(key)) : []);

const itemsOf = (node: Contents): readonly Node[] =>
  isSeq(node) ? node.items.flatMap((item) => nodeOf(item) ?? []) : [];

const below = (node: Contents, name: string): readonly Node[] =>
  fieldsOf(node).flatMap(([key, value]) => (key === name ? [value] : []));

const nodeOf = (value: unknown): Contents =>
  isMap(value) || isSeq(value) || isScalar(value) ? value : null;
