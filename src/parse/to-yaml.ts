import type { Agents } from '../model/agent.ts';
import type { State } from '../model/workflow.ts';
import { splitFrontMatter } from './front-matter.ts';
import { MANIFEST } from './manifest.ts';
import {
  type Converted,
  errorIn,
  readingOfFiles,
  readingOfYaml,
  type TextFile,
} from './same-workflow.ts';
import { extensionOf, stemOf } from './state.ts';
import { decodeUtf8, hasBom } from './utf8.ts';
import {
  converted,
  mapPiece,
  type Piece,
  piecesBelow,
  piecesOf,
  textPiece,
  writePieces,
} from './yaml-pieces.ts';
import { FORMS } from './yaml-workflow.ts';

/** The YAML text that means the same as these states and their manifest. `file` is its name. */
export function toYaml(
  file: string,
  files: readonly TextFile[],
  agents: Agents,
): Converted<string> {
  const before = readingOfFiles(files, agents);
  const reason = errorIn(before) ?? markedScript(files, before.states);
  if (reason !== undefined) return { ok: false, reason };
  return converted(
    before,
    () => yamlOf(files, before.states),
    (text) => readingOfYaml(file, text, agents),
  );
}

/** A reader drops a byte order mark, so YAML cannot keep it. */
function markedScript(files: readonly TextFile[], states: readonly State[]): string | undefined {
  const scripts = states.filter(({ kind }) => kind === 'script');
  const names = new Set<string>(scripts.map(({ name }) => name));
  const marked = files.find(({ name, bytes }) => names.has(name) && hasBom(bytes));
  return marked && `${marked.name} begins with a byte order mark.`;
}

function yamlOf(files: readonly TextFile[], states: readonly State[]): string {
  const texts = new Map(files.map(({ name, bytes }) => [name, textOf(bytes)]));
  const head = piecesOf(texts.get(MANIFEST) ?? '');
  const limits = grouped(
    head
      .filter(({ key }) => key === 'states')
      .flatMap(piecesBelow)
      .map((entry) => [stemOf(entry.key), piecesBelow(entry)] as const),
  );
  const bodies = grouped(
    states.map((state) => [stemOf(state.name), stateKeys(state, texts.get(state.name) ?? '')]),
  );
  const named = [...bodies].map(([stem, pieces]) =>
    mapPiece(stem, distinct([...(limits.get(stem) ?? []), ...pieces])),
  );
  return writePieces([...head.filter(({ key }) => key !== 'states'), mapPiece('states', named)]);
}

function grouped(
  entries: readonly (readonly [string, readonly Piece[]])[],
): ReadonlyMap<string, readonly Piece[]> {
  const groups = new Map<string, Piece[]>();
  for (const [name, pieces] of entries) {
    const group = groups.get(name) ?? [];
    group.push(...pieces);
    groups.set(name, group);
  }
  return groups;
}

function stateKeys(state: State, text: string): readonly Piece[] {
  switch (state.kind) {
    case 'prompt': {
      const split = splitFrontMatter(text);
      const front = typeof split === 'string' ? [] : piecesOf(split.yaml);
      return [...front, textPiece(keyOf(state), state.template)];
    }
    case 'script':
      return [textPiece(keyOf(state), state.text)];
    case 'broken':
      return [];
  }
}

function keyOf({ name }: State): string {
  const extension = extensionOf(name);
  return [...FORMS].find(([, one]) => one === extension)?.[0] ?? '';
}

/** Both platforms may have the same limit. A difference is found when the text is read again. */
function distinct(pieces: readonly Piece[]): readonly Piece[] {
  return [...new Map(pieces.map((piece) => [piece.key, piece])).values()];
}

function textOf(bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  return decoded.ok ? decoded.text : '';
}
