/** A workflow as an editor sees it: what it means now, and the texts that say so. */
import { once } from '../graph/once.ts';
import { type LintOptions, lint, lintFailure } from '../lint/lint.ts';
import type { Agents } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Source, SourceFile } from '../model/source.ts';
import type { StateName } from '../model/state-name.ts';
import type { Platform, State } from '../model/workflow.ts';
import { resolveState } from '../parse/resolve.ts';
import { isStateFile } from '../parse/state.ts';
import { decodeUtf8, encodeUtf8 } from '../parse/utf8.ts';
import { parseWorkflow, readFiles, type WorkflowReading } from '../parse/workflow.ts';
import { readYamlWorkflow } from '../parse/yaml-workflow.ts';
import { type NameUse, namesIn } from './name-uses.ts';
import type { SourceText } from './source-text.ts';

export interface EditedWorkflow {
  readonly source: Source;
  readonly platform: Platform;
  readonly agents: Agents;
  readonly reading: WorkflowReading;
  /** Also those of a workflow that has no entry. */
  readonly states: ReadonlyMap<StateName, State>;
  readonly texts: readonly SourceText[];
  /** The name of the one file that contains all states; absent for a folder and an archive. */
  readonly whole?: string;
}

export function editedWorkflow(
  source: Source,
  whole: string | undefined,
  { platform, agents }: Pick<EditedWorkflow, 'platform' | 'agents'>,
): EditedWorkflow {
  const reading = parseWorkflow(source, platform, agents);
  const states = reading.ok ? reading.workflow.states : readFiles(source.files, agents).states;
  const texts =
    whole === undefined
      ? source.files.flatMap(({ name, content }) => textIn(name, content))
      : textIn(whole, { bytes: source.whole ?? new Uint8Array() }, true);
  return {
    ...{ source, platform, agents, reading, states, texts },
    ...(whole !== undefined && { whole }),
  };
}

/** The same findings as `raymond lint` has. */
export function findingsIn(
  { reading }: EditedWorkflow,
  options?: LintOptions,
): readonly Diagnostic[] {
  return reading.ok ? lint(reading.workflow, options) : lintFailure(reading);
}

/** The workflow with other texts in place of its own. */
export function withTexts(
  { source, whole, platform, agents }: EditedWorkflow,
  texts: readonly Pick<SourceText, 'file' | 'text'>[],
): EditedWorkflow {
  const files = texts.map(({ file, text }) => ({ file, bytes: encodeUtf8(text) }));
  const [only] = texts;
  if (whole === undefined || !only) {
    const own = source.files.filter(({ content }) => !('bytes' in content));
    const read = files.map(({ file, bytes }): SourceFile => ({ name: file, content: { bytes } }));
    return editedWorkflow({ ...source, files: [...own, ...read] }, whole, { platform, agents });
  }
  const { states = [], about, diagnostics } = readYamlWorkflow(whole, only.text, agents);
  const read = states.map((state) => ({ name: state.name, content: { state } }));
  const bytes = encodeUtf8(only.text);
  const again = { ...source, about, diagnostics, files: read, whole: bytes };
  return editedWorkflow(again, whole, { platform, agents });
}

export function textOf(edited: EditedWorkflow, file: string): SourceText | undefined {
  return byName(edited).get(file);
}

const byName = once(({ texts }: EditedWorkflow) => new Map(texts.map((text) => [text.file, text])));

export function allNames({ texts }: EditedWorkflow): readonly NameUse[] {
  return texts.flatMap(namesIn);
}

/** The use of a name at an offset. Its end counts, because a cursor may be behind it. */
export function nameAt(edited: EditedWorkflow, file: string, offset: number): NameUse | undefined {
  const text = textOf(edited, file);
  return text && namesIn(text).find(({ from, to }) => from <= offset && offset <= to);
}

/** The state that a use names, on this platform or on another one. A broken state counts. */
export function stateNamed(edited: EditedWorkflow, name: string): StateName | undefined {
  const { states, platform } = edited;
  for (const on of [platform, ...OTHERS[platform]]) {
    const resolution = resolveState({ states, platform: on }, name);
    const found = 'found' in resolution ? resolution.found : resolution.broken;
    if (found !== undefined) return found;
  }
  return isStateFile(name) && states.has(name) ? name : undefined;
}

const OTHERS: Readonly<Record<Platform, readonly Platform[]>> = {
  unix: ['windows'],
  windows: ['unix'],
};

function textIn(
  file: string,
  content: SourceFile['content'],
  isWorkflow = false,
): readonly SourceText[] {
  const decoded = 'bytes' in content ? decodeUtf8(content.bytes) : undefined;
  return decoded?.ok ? [{ file, text: decoded.text, isWorkflow }] : [];
}
