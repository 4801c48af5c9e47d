/** A tool, optionally with a pattern in brackets. An agent cannot read it as one of its options. */
export const TOOL = /^[A-Za-z_][\w.*:-]*(?:\([^\p{Cc}]*\))?$/u;

/** Splits a text at commas and spaces outside of brackets; undefined if a part is not a tool. */
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

/** Before the path of a folder that the agent may use. No rule of a tool begins like this. */
export const DIRECTORY = 'directory:';

/** The settings that give these rules to a process. Texts of another form are left out. */
export function settingsOf(granted: readonly string[]): {
  readonly allow: readonly string[];
  readonly additionalDirectories: readonly string[];
} {
  const isDirectory = (rule: string) => rule.startsWith(`${DIRECTORY}/`);
  return {
    allow: granted.filter((rule) => TOOL.test(rule)),
    additionalDirectories: granted.filter(isDirectory).map((rule) => rule.slice(DIRECTORY.length)),
  };
}
