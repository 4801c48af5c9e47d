/** The line of a key in a TOML file. The parser reports no positions. */

/** The line of the key, or of the nearest table that contains it. Lines are counted from 1. */
export function lineOfKey(text: string, path: readonly string[]): number {
  let best = { depth: 0, line: 1 };
  let table: readonly string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const [, header] = /^\s*\[+\s*([^\]]+?)\s*\]/.exec(line) ?? [];
    if (header !== undefined) table = partsOf(header);
    const key = header === undefined ? keyOf(line) : [];
    if (key === undefined) continue;
    const depth = sharedDepth([...table, ...key], path);
    if (depth > best.depth) best = { depth, line: index + 1 };
  }
  return best.line;
}

const PART = String.raw`(?:[\w-]+|"[^"]*"|'[^']*')`;
const KEY = new RegExp(String.raw`^\s*(${PART}(?:\s*\.\s*${PART})*)\s*=`);

function keyOf(line: string): readonly string[] | undefined {
  const [, key] = KEY.exec(line) ?? [];
  return key === undefined ? undefined : partsOf(key);
}

function partsOf(dotted: string): readonly string[] {
  const parts = dotted.match(new RegExp(PART, 'g')) ?? [];
  return parts.map((part) => part.replace(/^(["'])(.*)\1$/, '$2'));
}

/** How many parts of the path a key names; 0 if it names another one. */
function sharedDepth(key: readonly string[], path: readonly string[]): number {
  const leads = key.length <= path.length && key.every((part, at) => part === path[at]);
  return leads ? key.length : 0;
}
