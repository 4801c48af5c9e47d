/** The steps of a person who follows a document word for word: files to write, commands to enter. */
import { readConsole } from './console.ts';
import type { Document } from './documents.ts';

export type ReaderStep =
  | { readonly name: string; readonly kind: 'file'; readonly file: string; readonly text: string }
  | {
      readonly name: string;
      readonly kind: 'command';
      readonly command: string;
      readonly expected: readonly string[];
    };

/** The files and commands of a document, in its order. */
export function readerSteps({ blocks }: Pick<Document, 'blocks'>): readonly ReaderStep[] {
  return blocks.flatMap(({ language, file, text }): readonly ReaderStep[] => {
    if (file !== undefined) return [{ name: `writes ${file}`, kind: 'file', file, text }];
    if (language !== 'console') return [];
    return readConsole(text).map((entered) => ({
      ...entered,
      name: `$ ${entered.command}`,
      kind: 'command',
    }));
  });
}
