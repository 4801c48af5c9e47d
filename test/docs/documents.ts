/** The documents of the repository, split into fenced blocks, plays, headings and links. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Document {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly plays: readonly PlayNote[];
}

/** A fenced block: ```` ```language word key=value ````. */
export interface Block {
  readonly language: string;
  readonly words: readonly string[];
  /** `file=…`: the path of the block in the document's project. */
  readonly file: string | undefined;
  readonly text: string;
  readonly line: number;
}

/** `<!-- play workflow … -->`: the answers of agents and scripts, and the expected run. */
export interface PlayNote {
  readonly workflow: string;
  /** By state, one for each execution. */
  readonly answers: ReadonlyMap<string, readonly string[]>;
  readonly expected: ReadonlyMap<string, string>;
}

export const root = fileURLToPath(new URL('../..', import.meta.url));

export const documents: readonly Document[] = documentPaths().map((path) => readDocument(path));

export function readDocument(path: string, folder = root): Document {
  const text = readFileSync(join(folder, path), 'utf8');
  return { path, text, blocks: readBlocks(text), plays: readPlays(text) };
}

/** The text without its fenced blocks and inline code. It contains the headings and links. */
export function proseOf({ text, blocks }: Document): string {
  const lines = text.split('\n');
  for (const { line, text: block } of blocks) {
    const length = block === '' ? 0 : block.split('\n').length - 1;
    lines.fill('', line - 1, line + length + 1);
  }
  return lines.join('\n');
}

function documentPaths(): readonly string[] {
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md'));
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  return [...atRoot, ...inDocs.filter((name) => name.endsWith('.md')).map((n) => `docs/${n}`)];
}

function readBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const [, fence, info = ''] = /^(`{3,})(.*)$/.exec(lines[at] ?? '') ?? [];
    if (!fence) continue;
    const end = lines.findIndex((line, i) => i > at && line.trimEnd() === fence);
    const [language = '', ...words] = info.trim().split(/\s+/);
    const file = words.find((word) => word.startsWith('file='))?.slice('file='.length);
    const body = lines.slice(at + 1, end);
    blocks.push({
      language,
      words: words.filter((word) => !word.startsWith('file=')),
      file,
      text: body.map((line) => `${line}\n`).join(''),
      line: at + 1,
    });
    at = end;
  }
  return blocks;
}

function readPlays(text: string): readonly PlayNote[] {
  return [...text.matchAll(/^<!-- play (\S+)\n([\s\S]*?)-->$/gm)].map(([, workflow = '', body]) => {
    const answers = new Map<string, string[]>();
    const expected = new Map<string, string>();
    for (const line of (body ?? '').trim().split('\n')) {
      const [, key = '', value = ''] = /^(\S+): (.*)$/.exec(line) ?? [];
      if (['path', 'ends', 'result', 'input'].includes(key)) expected.set(key, value);
      else answers.set(key, [...(answers.get(key) ?? []), value]);
    }
    return { workflow, answers, expected };
  });
}
