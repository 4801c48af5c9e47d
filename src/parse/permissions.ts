import type { Policy } from '../model/workflow.ts';
import { clip } from './clip.ts';
import { nearest } from './nearest.ts';
import type { Field, Item, YamlReader } from './yaml-reader.ts';

/**
 * From the strictest on. A mode that is not here may allow anything, so that only the person who runs
 * a workflow can choose it.
 */
export const STATE_MODES: readonly string[] = ['plan', 'dontAsk', 'default', 'acceptEdits'];

export function readPermissionMode(
  reader: YamlReader,
  field: Field,
): Pick<Policy, 'permissionMode'> {
  const permissionMode = reader.text(field, 'permission_mode', 'the name of a mode');
  if (permissionMode === undefined) return {};
  if (STATE_MODES.includes(permissionMode)) return { permissionMode };
  const meant = nearest(permissionMode, STATE_MODES);
  const message = `A state cannot have the permission_mode "${clip(permissionMode)}": a workflow may ask for ${STATE_MODES.join(', ')}.`;
  reader.error('bad-permission-mode', field.offset, message, {
    remedy: meant
      ? `Did you mean ${meant}?`
      : 'Remove the key. Only the person who starts a run can allow more, with --permission-mode.',
    nearest: meant,
  });
  return {};
}

/** The mode of a turn: what the state says, but never more than the run allows. */
export function stricterMode(ofRun: string, ofState: string): string {
  return strictness(ofState) < strictness(ofRun) ? ofState : ofRun;
}

function strictness(mode: string): number {
  const place = STATE_MODES.indexOf(mode);
  return place < 0 ? STATE_MODES.length : place;
}

/** `[Read, "Bash(git log:*)"]` */
export function readTools(reader: YamlReader, field: Field): readonly string[] | undefined {
  if (reader.isEmpty(field)) return [];
  const items = reader.items(field, field.key, 'a list like [Read, "Bash(git log:*)"]');
  return items?.flatMap((item) => readTool(reader, field.key, item) ?? []);
}

/** A tool, perhaps with a pattern in brackets. Nothing that an agent could take for one of its options. */
const TOOL = /^[A-Za-z_][\w.*:-]*(?:\([^\p{Cc}]*\))?$/u;

/** Parted by commas or spaces outside of brackets; undefined when one of them is no tool. */
export function splitTools(text: string): readonly string[] | undefined {
  const tools: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const letter = text[at];
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    const isBetween = depth === 0 && letter !== undefined && /[\s,]/.test(letter);
    if (!isBetween && letter !== undefined) continue;
    if (at > begin) tools.push(text.slice(begin, at));
    begin = at + 1;
  }
  return tools.every((tool) => TOOL.test(tool)) ? tools : undefined;
}

function readTool(reader: YamlReader, key: string, item: Item): string | undefined {
  const expected = 'a tool like Read or "Bash(git log:*)"';
  const tool = reader.text(item, `An entry of ${key}`, expected);
  if (tool === undefined || TOOL.test(tool)) return tool;
  return reader.mismatch(item, `An entry of ${key}`, expected);
}
