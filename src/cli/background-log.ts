import { existsSync } from 'node:fs';
import type { Workspace } from '../ports.ts';

/** The file with the messages of the run's newest background process; undefined if it had none. */
export function backgroundLog({ processLog }: Pick<Workspace, 'processLog'>): string | undefined {
  return existsSync(processLog.path) ? processLog.path : undefined;
}
