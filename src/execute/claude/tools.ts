/** A tool, perhaps with a pattern in brackets. Nothing that an agent could take for one of its options. */
export const TOOL = /^[A-Za-z_][\w.*:-]*(?:\([^\p{Cc}]*\))?$/u;

/** Parted by commas or spaces outside of brackets; undefined when one of them is no tool. */
export function splitTools(text: string): readonly string[] | undefined {
  const tools: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const letter = text[at];
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    const isBetween = depth === 0 && letter !== undefined && /[\s,]/.test(letter);
    if (!isBetween && letter !== undefined) continue;
    if (at > begin) tools.push(text.slice(begin, at));
    begin = at + 1;
  }
  return tools.every((tool) => TOOL.test(tool)) ? tools : undefined;
}
