/** The form in which a model gets the words of a person. */

/** A prompt, after the words that were said before it. */
export function withSpoken(words: readonly { readonly text: string }[], prompt: string): string {
  if (words.length === 0) return prompt;
  const spoken = words.map(({ text }) => `${OPENING}${text}`).join('\n\n');
  return `${spoken}\n\nTake this into account. Your task is:\n\n${prompt}`;
}

/** What a model gets during its turn. */
export const interjection = (text: string): string => `${OPENING}${text}${CLOSING}`;

/** The words in an interjection; undefined for any other text. */
export function interjected(text: string): string | undefined {
  if (!text.startsWith(OPENING) || !text.endsWith(CLOSING)) return undefined;
  return text.slice(OPENING.length, -CLOSING.length);
}

const OPENING = 'A person who follows your work says:\n\n';
const CLOSING =
  '\n\nTake this into account and continue with your task. End your last message as your task says.';
