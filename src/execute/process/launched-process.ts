import type { Writable } from 'node:stream';
import type { ProcessIdentity } from './identity.ts';
import { type Exit, type ProcessRecord, stderrOf, stdoutOf } from './record.ts';
import { stopTree } from './stop.ts';

export interface LaunchedProcess {
  /** Missing when the process could not be made: then `ended` says why. */
  readonly identity?: ProcessIdentity;
  /** For one that was launched here with a pipe. What is written after its end is lost. */
  readonly stdin?: Writable;
  readonly stdoutFile: string;
  readonly stderrFile: string;
  /** Follows the command itself, not what it left in the background. Never rejects. */
  readonly ended: Promise<Exit>;
  /** Ends the whole tree; answers with what could not be ended. */
  stop(graceMs?: number): Promise<readonly ProcessIdentity[]>;
}

export function launchedProcess(
  folder: string,
  record: ProcessRecord,
  ended: Promise<Exit>,
): LaunchedProcess {
  return {
    identity: record.identity,
    stdoutFile: stdoutOf(folder),
    stderrFile: stderrOf(folder),
    ended,
    stop: (graceMs) => stopTree(folder, record, graceMs),
  };
}
