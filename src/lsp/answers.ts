/** What the server answers: the readings of `src/editing` in the form of the protocol. */
import type {
  CompletionItem,
  CompletionList,
  DocumentSymbol,
  Hover,
  Location,
  Position,
  Diagnostic as ProtocolDiagnostic,
  Range,
  WorkspaceEdit,
} from 'vscode-languageserver-protocol';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { type Completion, completionsAt, type Schemas } from '../editing/complete.ts';
import { allNames, nameAt, stateNamed, textOf } from '../editing/edited-workflow.ts';
import { findingEnd } from '../editing/finding-span.ts';
import { hoverAt } from '../editing/hover.ts';
import { outlineOf } from '../editing/outline.ts';
import {
  definedBy,
  followRename,
  formsOf,
  type Renaming,
  renameState,
  usesOf,
} from '../editing/rename-state.ts';
import type { SourceText } from '../editing/source-text.ts';
import { grouped } from '../graph/grouped.ts';
import { once } from '../graph/once.ts';
import { lineStarts } from '../graph/position.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import { UserError } from '../model/user-error.ts';
import { visible } from '../model/visible.ts';
import { isStateFile } from '../parse/state.ts';
import type { OpenWorkflow, Place } from './edited-workflows.ts';

/** The abilities of the editor that matter. */
export interface Abilities {
  readonly snippets: boolean;
  /** A rename may be a list of changes in the order in which they happen. */
  readonly ordersChanges: boolean;
  /** A rename may contain operations on files. */
  readonly renamesFiles: boolean;
}

export function completions(
  place: Place,
  at: Position,
  schemas: Schemas,
  { snippets }: Abilities,
): CompletionList | null {
  const text = textIn(place, place.file);
  const found = text && completionsAt(place.edited, place.file, text.offsetAt(at), schemas);
  if (!text || !found) return null;
  const range = rangeIn(text, found.from, text.offsetAt(at));
  return { isIncomplete: false, items: found.items.map((item) => itemOf(item, range, snippets)) };
}

function itemOf(
  { label, kind, detail, documentation, insert, snippet }: Completion,
  range: Range,
  snippets: boolean,
): CompletionItem {
  const isSnippet = snippets && snippet !== undefined;
  return {
    label: visible(label),
    kind: KINDS[kind],
    ...(detail !== undefined && { detail }),
    ...(documentation && { documentation: { kind: 'markdown', value: documentation } }),
    insertTextFormat: isSnippet ? SNIPPET : PLAIN_TEXT,
    textEdit: { range, newText: isSnippet ? snippet : insert },
  };
}

/** The numbers of the protocol. */
const KINDS = { state: 17, tag: 14, attribute: 10, key: 10, value: 12, placeholder: 6 } as const;
const PLAIN_TEXT = 1;
const SNIPPET = 2;

export function hover(place: Place, at: Position, schemas: Schemas): Hover | null {
  const text = textIn(place, place.file);
  const found = text && hoverAt(place.edited, place.file, text.offsetAt(at), schemas);
  if (!text || !found) return null;
  const { from, to, markdown } = found;
  return { contents: { kind: 'markdown', value: markdown }, range: rangeIn(text, from, to) };
}

export function definition(place: Place, at: Position): readonly Location[] | null {
  const named = nameUnder(place, at);
  if (!named) return null;
  const { edited } = place;
  if (edited.whole === undefined) return [{ uri: place.uriOf(named.state), range: START }];
  const defined = allNames(edited).filter(
    ({ kind, written }) => kind === 'definition' && definedBy(edited, written) === named.state,
  );
  return locations(place, defined);
}

const START: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

/** The places that name a state: the one at the cursor, or else the state that the file is. */
export function references(
  place: Place,
  at: Position,
  withDefinition: boolean,
): readonly Location[] | null {
  const { edited, file } = place;
  const own = isStateFile(file) && edited.states.has(file) ? file : undefined;
  const state = nameUnder(place, at)?.state ?? own;
  if (state === undefined) return null;
  const uses = usesOf(edited, formsOf(edited, state));
  return locations(place, withDefinition ? uses : uses.filter(({ kind }) => kind !== 'definition'));
}

export function symbols(place: Place): readonly DocumentSymbol[] | null {
  const text = textIn(place, place.file);
  if (!text) return null;
  return outlineOf(place.edited, place.file).map(({ name, detail, isState, from, to }) => {
    const range = rangeIn(text, from, to);
    return { name, detail, kind: isState ? CLASS : EVENT, range, selectionRange: range };
  });
}

const CLASS = 5;
const EVENT = 24;

/** The range of the name at the cursor; null if nothing there can be renamed. */
export function renameable(place: Place, at: Position): Range | null {
  const text = textIn(place, place.file);
  const named = nameUnder(place, at);
  if (!text || !named) return null;
  refuseArchive(place);
  return rangeIn(text, named.from, named.to);
}

export function rename(
  place: Place,
  at: Position,
  newName: string,
  abilities: Abilities,
): WorkspaceEdit {
  const named = nameUnder(place, at);
  if (!named)
    throw new UserError(
      'no-name',
      'There is no name of a state here.',
      'Put the cursor on a name in a tag or in front matter.',
    );
  refuseArchive(place);
  return editOf(place, renameState(place.edited, named.state, newName), abilities);
}

/** The changes for a file that the editor renames by itself; undefined if there are none. */
export function renamedFile(
  place: Place,
  newName: string,
  abilities: Abilities,
): WorkspaceEdit | null {
  const { edited, file, location } = place;
  if (!isStateFile(file) || !edited.states.has(file) || location.kind !== 'folder') return null;
  const renaming = followRename(edited, file, newName);
  if (!renaming.ok) throw new UserError('no-rename', renaming.reason, RENAME_REMEDY);
  const files = renaming.files.filter(({ from }) => from !== file);
  return editOf(place, { ...renaming, files }, abilities);
}

const RENAME_REMEDY = 'Choose another name, or change the files by hand.';

function refuseArchive({ location: { kind, path } }: Place): void {
  if (kind !== 'zip') return;
  throw new UserError(
    'read-only',
    `${path} is an archive, which cannot be changed here.`,
    'Convert it to a folder with raymond convert.',
  );
}

function editOf(
  place: Place,
  renaming: Renaming,
  { ordersChanges, renamesFiles }: Abilities,
): WorkspaceEdit {
  if (!renaming.ok) throw new UserError('no-rename', renaming.reason, RENAME_REMEDY);
  const { edits, files } = renaming;
  if (files.length > 0 && !renamesFiles)
    throw new UserError(
      'no-rename',
      'This editor cannot rename files together with their texts.',
      'Update it, or change the files by hand.',
    );
  const changed = [...grouped(edits, ({ file }) => file)].flatMap(([file, own]) => {
    const text = textIn(place, file);
    if (!text) return [];
    return [
      {
        textDocument: { uri: place.uriOf(file), version: null },
        edits: own.map(({ from, to, text: newText }) => ({
          range: rangeIn(text, from, to),
          newText,
        })),
      },
    ];
  });
  if (!ordersChanges)
    return {
      changes: Object.fromEntries(changed.map((one) => [one.textDocument.uri, one.edits])),
    };
  // The texts come first, because they are at their old addresses.
  const renamed = files.map(({ from, to }) => ({
    kind: 'rename' as const,
    ...{ oldUri: place.uriOf(from), newUri: place.uriOf(to) },
    options: { overwrite: false },
  }));
  return { documentChanges: [...changed, ...renamed] };
}

/** The findings of a workflow by the addresses of its files. */
export function diagnostics(
  workflow: OpenWorkflow,
  isOpen: (uri: string) => boolean,
): ReadonlyMap<string, readonly ProtocolDiagnostic[]> {
  const placed = workflow.findings().flatMap((finding) => {
    const uri = uriFor(workflow, finding, isOpen);
    return uri === undefined ? [] : [{ uri, diagnostic: inProtocol(workflow, finding) }];
  });
  const byUri = grouped(placed, ({ uri }) => uri);
  return new Map([...byUri].map(([uri, own]) => [uri, own.map(({ diagnostic }) => diagnostic)]));
}

/** A fault of the workflow as a whole is shown in one of its files. */
function uriFor(
  workflow: OpenWorkflow,
  { file }: Diagnostic,
  isOpen: (uri: string) => boolean,
): string | undefined {
  if (file !== '') return workflow.uriOf(file);
  const all = workflow.edited.texts.map((text) => workflow.uriOf(text.file));
  return all.find(isOpen) ?? all[0];
}

function inProtocol(workflow: OpenWorkflow, finding: Diagnostic): ProtocolDiagnostic {
  const { severity, code, message, remedy, file, line, column } = finding;
  const source = textOf(workflow.edited, file);
  const range = source ? rangeOfFinding(source, line, column) : START;
  return {
    ...{ range, code, source: 'raymond', severity: SEVERITIES[severity] },
    message: visible(remedy === undefined ? message : `${message} ${remedy}`),
  };
}

const SEVERITIES = { error: 1, warning: 2, note: 3 } as const;

/** Lines of findings end at line feeds. */
function rangeOfFinding(source: SourceText, line: number, column: number): Range {
  const { text } = source;
  const start = startsOf(source)[line - 1] ?? text.length;
  const from = Math.min(start + column - 1, text.length);
  return rangeIn(documentOf(source), from, findingEnd(text, from));
}

const startsOf = once(({ text }: SourceText) => lineStarts(text));

const documentOf = once(({ text }: SourceText) => TextDocument.create('', '', 0, text));

interface NamedHere {
  readonly state: StateName;
  readonly from: number;
  readonly to: number;
}

function nameUnder(place: Place, at: Position): NamedHere | undefined {
  const { edited, file } = place;
  const text = textIn(place, file);
  const use = text && nameAt(edited, file, text.offsetAt(at));
  if (!use) return undefined;
  const { written, kind, from, to } = use;
  const state = kind === 'definition' ? definedBy(edited, written) : stateNamed(edited, written);
  return state === undefined ? undefined : { state, from, to };
}

function textIn({ edited }: OpenWorkflow, file: string): TextDocument | undefined {
  const source = textOf(edited, file);
  return source && documentOf(source);
}

const rangeIn = (text: TextDocument, from: number, to: number): Range => ({
  start: text.positionAt(from),
  end: text.positionAt(to),
});

function locations(
  place: OpenWorkflow,
  uses: readonly { readonly file: string; readonly from: number; readonly to: number }[],
): readonly Location[] {
  return uses.flatMap(({ file, from, to }) => {
    const text = textIn(place, file);
    return text ? [{ uri: place.uriOf(file), range: rangeIn(text, from, to) }] : [];
  });
}
