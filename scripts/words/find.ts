import { AVOID } from './avoid.ts';
import { type Passage, type Sentence, sentencesOf, wordCount } from './passage.ts';

export const MOST_WORDS = 25;

export interface Finding {
  readonly line: number;
  readonly kind: 'long' | 'avoid';
  /** What is wrong, and what to write. */
  readonly text: string;
}

export function findings(passages: readonly Passage[]): readonly Finding[] {
  return passages
    .flatMap(sentencesOf)
    .flatMap((sentence) => [...tooLong(sentence), ...avoided(sentence)]);
}

function tooLong(sentence: Sentence): readonly Finding[] {
  const count = wordCount(sentence);
  if (count <= MOST_WORDS) return [];
  return [{ line: sentence.line, kind: 'long', text: `${count} words: ${sentence.text}` }];
}

function avoided({ line, words }: Sentence): readonly Finding[] {
  return AVOID.flatMap(({ pattern, better }) => {
    const found = pattern.exec(words)?.[0];
    if (found === undefined) return [];
    return [{ line, kind: 'avoid' as const, text: `"${shortened(found)}": ${better}` }];
  });
}

function shortened(found: string): string {
  return found.length > 40 ? `${found.slice(0, 39)}…` : found;
}
