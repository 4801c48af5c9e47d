/** Whether a text that may name a JSON file is the JSON itself. */
export function isInlineJson(text: string): boolean {
  return text.trimStart().startsWith('{');
}
