import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a folder that contain one of the texts. */
export function filesWith(folder: string, texts: readonly string[]): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .filter((file) => {
      const content = readFileSync(file, 'latin1');
      return texts.some((text) => content.includes(text));
    });
}
