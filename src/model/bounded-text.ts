/** The text, or its beginning with the number of characters that were left out. */
export function bounded(
  text: string,
  most: number,
): { readonly text: string; readonly omitted: number } {
  if (text.length <= most) return { text, omitted: 0 };
  // Half of a character would be invalid.
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return { text: text.slice(0, end), omitted: text.length - end };
}
