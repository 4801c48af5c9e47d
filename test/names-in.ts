import { readdirSync } from 'node:fs';

/** The names in a folder; none if it does not exist, or vanishes meanwhile. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
