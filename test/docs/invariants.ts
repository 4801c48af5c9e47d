/** The invariants of the source: each is at the head of the file that keeps it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './documents.ts';

export interface Invariant {
  readonly number: number;
  readonly statement: string;
  /** Relative to `src`. */
  readonly file: string;
}

export function keptInvariants(): readonly Invariant[] {
  const kept = sourceFiles().flatMap(({ file, text }) =>
    invariantsIn(headOf(text)).map((invariant) => ({ ...invariant, file })),
  );
  return kept.sort((a, b) => a.number - b.number);
}

/** Files that name an invariant after their first statement. */
export function filesWithLateInvariants(): readonly string[] {
  const late = sourceFiles().filter(({ text }) => /INV-\d+:/.test(text.slice(headOf(text).length)));
  return late.map(({ file }) => file);
}

function sourceFiles(): readonly { readonly file: string; readonly text: string }[] {
  const src = join(root, 'src');
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, text: readFileSync(join(src, file), 'utf8') }));
}

/** The comments before the first statement. */
export function headOf(text: string): string {
  return /^(?:\/\*\*[\s\S]*?\*\/\s*|\/\/.*\n|\s+)*/.exec(text)?.[0] ?? '';
}

export function invariantsIn(head: string): readonly Omit<Invariant, 'file'>[] {
  const text = head.replace(/^ *(?:\/\*\*|\*\/|\*|\/\/) ?/gm, '').replace(/ *\*\/$/gm, '');
  return [...text.matchAll(/^INV-(\d+): ([\s\S]*?)(?=\n\s*\n|\nINV-|\s*$(?![\s\S]))/gm)].map(
    ([, number, statement = '']) => ({
      number: Number(number),
      statement: statement.replace(/\s+/g, ' ').trim(),
    }),
  );
}
