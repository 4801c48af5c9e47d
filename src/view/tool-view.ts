/**
 * How to show the input of a tool call. The form of the input decides, not the name of the tool: a
 * change of a text has an old and a new one, whichever agent makes it.
 */
import { type DiffLine, lineDiff } from './line-diff.ts';

export type ToolView =
  | { readonly kind: 'change'; readonly file: string; readonly lines: readonly DiffLine[] }
  | { readonly kind: 'command'; readonly command: string; readonly about: string }
  | { readonly kind: 'input'; readonly text: string };

export function toolView(input: string): ToolView {
  const fields = parsed(input);
  if (!fields) return { kind: 'input', text: input };
  const file = textOf(fields, 'file_path', 'path', 'notebook_path');
  const change = changeIn(fields);
  if (file !== undefined && change) return { kind: 'change', file, lines: change };
  const command = textOf(fields, 'command');
  if (command !== undefined)
    return { kind: 'command', command, about: textOf(fields, 'description') ?? '' };
  return { kind: 'input', text: JSON.stringify(fields, null, 2) };
}

function changeIn(fields: Fields): readonly DiffLine[] | undefined {
  const edits = Array.isArray(fields.edits) ? fields.edits.filter(isFields) : [fields];
  const parts = edits.map(oneChange);
  if (parts.length === 0 || parts.some((part) => part === undefined)) return undefined;
  return parts.flatMap((part, index) => [
    ...(index > 0 ? [{ kind: 'gap', text: '' } as const] : []),
    ...(part ?? []),
  ]);
}

function oneChange(fields: Fields): readonly DiffLine[] | undefined {
  const before = textOf(fields, 'old_string', 'old_text', 'oldText');
  const after = textOf(fields, 'new_string', 'new_text', 'newText', 'content', 'new_source');
  return after === undefined ? undefined : lineDiff(before ?? '', after);
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined if the text was shortened, or is no object. */
function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf(fields: Fields, ...names: readonly string[]): string | undefined {
  const name = names.find((one) => Object.hasOwn(fields, one) && typeof fields[one] === 'string');
  return name === undefined ? undefined : String(fields[name]);
}
