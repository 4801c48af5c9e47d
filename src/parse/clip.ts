/** A text short enough to be quoted in a message. */
export function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
