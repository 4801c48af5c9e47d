/**
 * What an executor of prompts leaves in a step's folder for those who look at it later: records of
 * runs read `answer`, the debug folder reads the part of a file that `raw.json` names. Nothing depends
 * on them, so trouble with them is no trouble of the step.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The final message. */
export function leaveAnswer(folder: string, text: string): void {
  leave(join(folder, 'answer'), text);
}

/** Where the agent's own messages stand, one JSON value a line. */
export function leaveRaw(folder: string, raw: { file: string; from: number; to: number }): void {
  leave(join(folder, 'raw.json'), JSON.stringify(raw));
}

function leave(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    // The step itself is safe.
  }
}
