/** JSON that an agent or an author wrote. Reading takes time linear in the text, and never throws. */
import { isJsonObject, type Json } from '../model/json.ts';

export type JsonReading =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string };

/** Deeper JSON is refused, so that code which follows the nesting never runs out of stack. */
const DEEPEST_JSON = 200;

export function readJson(text: string, deepest = DEEPEST_JSON): JsonReading {
  if (isDeeperThan(deepest, text)) {
    return { ok: false, problem: `it is nested more than ${deepest} levels deep` };
  }
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, problem: reason.replace(/\s+/g, ' ') };
  }
}

/** The value that a path of keys and positions leads to. Only own keys count. */
export function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const key of path) {
    // The length of a list is a key of its own, but not a part of the JSON.
    if (isJsonObject(at)) at = Object.hasOwn(at, key) ? at[key] : undefined;
    else if (Array.isArray(at)) at = INDEX.test(key) ? at[Number(key)] : undefined;
    else return undefined;
  }
  return at;
}

/** A value in a text: strings without quotes, and everything else as JSON. */
export function jsonText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** JSON in the body of a tag. Only its strings can contain `<`, and they must not end the tag. */
export function jsonInTag(json: string): string {
  return json.trim().replaceAll('<', '\\u003c');
}

/** The position of an item in a list. */
export const INDEX = /^(?:0|[1-9]\d{0,14})$/;

/** Counts brackets outside of strings. For text that is not JSON, the count only has to be cheap. */
function isDeeperThan(most: number, text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') inString = !inString;
    else if (inString && letter === '\\') at += 1;
    else if (inString) continue;
    else if (letter === '[' || letter === '{') depth += 1;
    else if (letter === ']' || letter === '}') depth -= 1;
    if (depth > most) return true;
  }
  return false;
}
