/** The rules that people have allowed for a run: rules of Claude Code, and folders. */
import { TOOL } from './tools.ts';

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
