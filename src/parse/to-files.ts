import type { Agents } from '../model/agent.ts';
import type { State } from '../model/workflow.ts';
import { readPrompt } from './front-matter.ts';
import { MANIFEST } from './manifest.ts';
import {
  type Converted,
  errorIn,
  readingOfFiles,
  readingOfYaml,
  type TextFile,
} from './same-workflow.ts';
import { stemOf } from './state.ts';
import { encodeUtf8 } from './utf8.ts';
import {
  converted,
  mapPiece,
  type Piece,
  piecesBelow,
  piecesOf,
  writePieces,
} from './yaml-pieces.ts';
import { FORMS } from './yaml-workflow.ts';

/** The files that mean the same as a YAML text. They have a manifest if the text needs one. */
export function toFiles(
  file: string,
  text: string,
  agents: Agents,
): Converted<readonly TextFile[]> {
  const before = readingOfYaml(file, text, agents);
  const reason = errorIn(before);
  if (reason !== undefined) return { ok: false, reason };
  return converted(
    before,
    () => filesOf(text, before.states, agents),
    (files) => readingOfFiles(files, agents),
  );
}

function filesOf(text: string, states: readonly State[], agents: Agents): readonly TextFile[] {
  const top = piecesOf(text);
  const entries = top.filter(({ key }) => key === 'states').flatMap(piecesBelow);
  const keys = new Map(entries.map((entry) => [entry.key, otherKeys(entry)]));
  const files = states.flatMap((state): readonly TextFile[] => {
    if (state.kind === 'broken') return [];
    if (state.kind === 'script') return [fileOf(state.name, state.text)];
    const front = writePieces(keys.get(stemOf(state.name)) ?? []);
    return [fileOf(state.name, promptText(state.name, front, state.template, agents))];
  });
  const scripts = new Set(
    states.flatMap(({ kind, name }) => (kind === 'script' ? stemOf(name) : [])),
  );
  const limits = [...scripts].flatMap((stem) => {
    const own = keys.get(stem) ?? [];
    return own.length > 0 ? [mapPiece(stem, own)] : [];
  });
  const about = top.filter(({ key }) => key !== 'states');
  const head = limits.length > 0 ? [...about, mapPiece('states', limits)] : about;
  return head.length > 0 ? [...files, fileOf(MANIFEST, writePieces(head))] : files;
}

/** The keys beside the prompt or the scripts of a state. */
function otherKeys(entry: Piece): readonly Piece[] {
  return piecesBelow(entry).filter(({ key }) => !FORMS.has(key));
}

/** A template that looks like front matter needs front matter before it, even if that is empty. */
function promptText(name: string, front: string, template: string, agents: Agents): string {
  const alone = readPrompt(name, template, agents);
  const isPlain = alone.template === template && alone.diagnostics.length === 0;
  const isMarked = template.startsWith('\uFEFF');
  return front === '' && isPlain && !isMarked ? template : `---\n${front}---\n${template}`;
}

function fileOf(name: string, text: string): TextFile {
  return { name, bytes: encodeUtf8(text) };
}
