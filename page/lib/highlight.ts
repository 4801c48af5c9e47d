/** The parts of a code that have colours. It is loaded with the first code block. */
import { parse } from 'sugar-high/core';
import { lang, languages } from 'sugar-high/lang';

/** A node for each coloured part. The text is put in as text, so it cannot become markup. */
export function highlighted(code: string, language: string): DocumentFragment | undefined {
  const name = lang(language);
  const config = languages.find(({ id }) => id === name)?.config;
  if (!config || code.length > LONGEST) return undefined;
  const made = document.createDocumentFragment();
  for (const [at, { tokens }] of parse(code, config).lines.entries()) {
    if (at > 0) made.append('\n');
    for (const { type, value } of tokens)
      made.append(COLOURED.has(type) ? part(type, value) : value);
  }
  // A reader copies what was written.
  return made.textContent?.trimEnd() === code.trimEnd() ? made : undefined;
}

function part(type: string, value: string): HTMLElement {
  const span = document.createElement('span');
  span.className = `code-${type}`;
  span.textContent = value;
  return span;
}

const COLOURED: ReadonlySet<string> = new Set([
  ...['keyword', 'string', 'comment', 'class', 'property', 'entity'],
]);

/** A longer one would hold up the page. */
const LONGEST = 30_000;
