export interface BoundedText {
  readonly text: string;
  /** The number of characters that were left out. */
  readonly omitted: number;
}

/** The text, or its beginning. */
export function bounded(text: string, most: number): BoundedText {
  if (text.length <= most) return { text, omitted: 0 };
  // Half of a character would be invalid.
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return { text: text.slice(0, end), omitted: text.length - end };
}
