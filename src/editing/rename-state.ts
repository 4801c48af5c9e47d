/**
 * Renames a state: its file, and every place that names it. The new texts are read again, and the renamed
 * workflow must have the same ways as before. Otherwise nothing is renamed.
 */

import { grouped } from '../graph/grouped.ts';
import { waysOf } from '../graph/ways.ts';
import type { StateName } from '../model/state-name.ts';
import type { Workflow } from '../model/workflow.ts';
import { clip } from '../parse/clip.ts';
import { EXTENSIONS, extensionOf, README, stemOf } from '../parse/state.ts';
import { stateNameProblem } from '../parse/transition.ts';
import { isError } from '../parse/yaml-reader.ts';
import { allNames, type EditedWorkflow, stateNamed, withTexts } from './edited-workflow.ts';
import { inForm, type NameUse } from './name-uses.ts';

export type Renaming =
  | {
      readonly ok: true;
      readonly edits: readonly TextChange[];
      /** Empty for a workflow in one file. */
      readonly files: readonly { readonly from: string; readonly to: string }[];
    }
  | { readonly ok: false; readonly reason: string };

export interface TextChange {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export function renameState(edited: EditedWorkflow, state: StateName, name: string): Renaming {
  const { reading } = edited;
  if (!reading.ok) return refused(`The workflow has an error: ${reading.message}`);
  const forms = formsOf(edited, state);
  const stem = newStem(edited, forms, name.trim());
  if (typeof stem !== 'string') return stem;
  const uses = usesOf(edited, forms);
  const vague = uses.find(({ isExact }) => !isExact);
  if (vague)
    return refused(`${placeIn(edited, vague)} names it in a way that cannot be changed here.`);
  const ofShell = uses.find(({ file, within }) => isScript(within ?? file, edited));
  if (ofShell && !/^[\p{L}\p{N}_.,+=@:-]+$/u.test(stem))
    return refused(
      `${placeIn(edited, ofShell)} is a script, whose shell may read "${clip(stem)}" differently.`,
    );
  const edits = uses.map((use) => ({ ...use, text: inForm(newName(use, stem), use) }));
  const newNames = new Map<string, string>(
    [...forms].map((form) => [form, stem + (extensionOf(form) ?? '')]),
  );
  const files = edited.whole === undefined ? [...newNames].map(([from, to]) => ({ from, to })) : [];
  const after = withTexts(edited, changedTexts(edited, edits, files)).reading;
  if (!after.ok) return refused(after.message);
  if (errorsIn(after.workflow) > errorsIn(reading.workflow))
    return refused(
      `The workflow would have an error: ${newError(reading.workflow, after.workflow)}`,
    );
  const changed = differenceOf(reading.workflow, after.workflow, newNames);
  if (changed !== undefined)
    return refused(
      `${changed} would not lead to the same states. It may name ${stemOf(state)} in a text that only a run puts together.`,
    );
  return { ok: true, edits, files };
}

/** The changes that follow when an editor has renamed the file of a state, or is about to. */
export function followRename(edited: EditedWorkflow, from: StateName, to: string): Renaming {
  if (extensionOf(from) !== extensionOf(to)) return refused('Its kind would change.');
  return renameState(edited, from, to);
}

/** The uses that name a state, or its form for another platform. */
export function usesOf(edited: EditedWorkflow, forms: ReadonlySet<StateName>): readonly NameUse[] {
  return allNames(edited).filter(({ written, kind }) => {
    const named = kind === 'definition' ? definedBy(edited, written) : stateNamed(edited, written);
    return named !== undefined && forms.has(named);
  });
}

/** A key of a YAML workflow defines its state, in all forms. */
export function definedBy(edited: EditedWorkflow, key: string): StateName | undefined {
  return [...edited.states.keys()].find((name) => stemOf(name) === key);
}

/** A state and its forms for other platforms, which share its name. */
export function formsOf(
  { states, platform, whole }: EditedWorkflow,
  state: StateName,
): ReadonlySet<StateName> {
  const isHere = (name: string) =>
    EXTENSIONS[platform].some((extension) => name.endsWith(extension));
  const same = [...states.keys()].filter((other) => stemOf(other) === stemOf(state));
  // A prompt and a script of one name are two states, which only their extensions tell apart.
  const isOneState =
    same.filter(isHere).length <= 1 && !same.some((one) => one.endsWith('.md') && same.length > 1);
  return new Set(whole !== undefined || isOneState ? same : [state]);
}

const refused = (reason: string): Renaming & { readonly ok: false } => ({ ok: false, reason });

/** A state of a YAML workflow may have scripts. */
const isScript = (within: string, { states }: EditedWorkflow) =>
  [...states.values()].some(
    ({ name, kind }) => kind === 'script' && (name === within || stemOf(name) === within),
  );

function newStem(edited: EditedWorkflow, forms: ReadonlySet<string>, name: string) {
  const extension = extensionOf(name);
  const stem = stemOf(name);
  if (extension !== undefined && ![...forms].some((form) => extensionOf(form) === extension))
    return refused(`The extension ${extension} would make it a state of another kind.`);
  const problem = stateNameProblem(stem);
  if (problem) return refused(`${problem.slice(0, 1).toUpperCase()}${problem.slice(1)}.`);
  if (/\p{C}/u.test(stem)) return refused('The name has control characters.');
  if (stem.startsWith('.'))
    return refused(`"${clip(stem)}" begins with a dot, as hidden files do.`);
  if (`${stem}.md` === README) return refused(`${README} describes a workflow. It is not a state.`);
  const taken = edited.source.files.find(
    (file) =>
      !forms.has(file.name) &&
      [...forms].some((form) => isSame(stem + (extensionOf(form) ?? ''), file.name)),
  );
  const sameStem = [...edited.states.keys()].find(
    (other) => !forms.has(other) && isSame(stemOf(other), stem),
  );
  const used = taken?.name ?? sameStem;
  if (used !== undefined) return refused(`The name is in use: ${used}.`);
  return stem;
}

/** Some file systems do not tell upper case from lower case. */
const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/** A name with an extension keeps it. */
const newName = ({ written }: NameUse, stem: string) => stem + (extensionOf(written) ?? '');

function changedTexts(
  { texts }: EditedWorkflow,
  edits: readonly TextChange[],
  files: readonly { readonly from: string; readonly to: string }[],
) {
  const byFile = grouped(edits, ({ file }) => file);
  return texts.map(({ file, text }) => ({
    file: files.find(({ from }) => from === file)?.to ?? file,
    text: applied(text, byFile.get(file) ?? []),
  }));
}

function applied(text: string, edits: readonly TextChange[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, text: written } of edits.toSorted((a, b) => a.from - b.from)) {
    pieces.push(text.slice(done, from), written);
    done = to;
  }
  return pieces.join('') + text.slice(done);
}

const errorsIn = ({ diagnostics }: Workflow) => diagnostics.filter(isError).length;

function newError(before: Workflow, after: Workflow): string {
  const known = new Set(before.diagnostics.map(({ message }) => message));
  return after.diagnostics.find((one) => isError(one) && !known.has(one.message))?.message ?? '';
}

/** The first state whose ways are different afterwards. */
function differenceOf(
  before: Workflow,
  after: Workflow,
  newNames: ReadonlyMap<string, string>,
): string | undefined {
  const renamed = (name: string) => newNames.get(name) ?? name;
  const [was, is] = [waysIn(before, renamed), waysIn(after, (name) => name)];
  const names = [...new Set([...was.keys(), ...is.keys()])];
  return names.find((name) => was.get(name) !== is.get(name));
}

function waysIn(
  workflow: Workflow,
  renamed: (name: string) => string,
): ReadonlyMap<string, string> {
  const ofStates = [...workflow.states.values()].map((state) => {
    const ways = waysOf(workflow, state).map(({ origin, tag, references }) => [
      ...[origin, tag],
      ...references.map((one) => [
        one.part,
        one.kind,
        one.kind === 'state' ? renamed(one.state) : '',
      ]),
    ]);
    return [renamed(state.name), JSON.stringify(ways)] as const;
  });
  return new Map([...ofStates, ['the entry', renamed(workflow.entry)]]);
}

function placeIn({ texts }: EditedWorkflow, { file, from }: NameUse): string {
  const text = texts.find((one) => one.file === file)?.text ?? '';
  return `${file}:${text.slice(0, from).split('\n').length}`;
}
