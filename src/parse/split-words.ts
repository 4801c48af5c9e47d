/**
 * Splits like a shell, but without any expansion. Undefined if the text ends inside a quote or after
 * a backslash.
 */
export function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  const word = /\s*((?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+)/y;
  for (let match = word.exec(text); match; match = word.exec(text)) {
    words.push(unquoted(match[1] ?? ''));
    if (text.slice(word.lastIndex).trim() === '') return words;
  }
  return text.trim() === '' ? [] : undefined;
}

function unquoted(word: string): string {
  return word.replace(
    /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g,
    (_, single?: string, double?: string, escaped?: string) =>
      single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? '',
  );
}
