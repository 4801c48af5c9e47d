/** Shortens a text so that a message can quote it. */
export function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
