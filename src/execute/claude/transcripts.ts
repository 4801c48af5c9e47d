import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readRegularFileSync, realOrSame } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import { isSessionId } from '../steps/kept-notes.ts';
import { transcriptFolder, transcriptPath } from './transcript.ts';

/** Finds and reads the files in which Claude Code keeps its conversations. */
export interface Transcripts {
  /** The file of a session, in any directory. `reportedFolder` is the folder that Claude Code reported. */
  find(session: string, cwd: string, reportedFolder?: string): string | undefined;
  /** The folder of the transcripts for a directory. */
  folderFor(cwd: string): string;
}

export function transcriptsIn(
  environment: Readonly<Record<string, string | undefined>>,
): Transcripts {
  const configFolder = configFolderOf(environment);
  return {
    folderFor: (cwd) => join(configFolder, 'projects', transcriptFolder(realOrSame(cwd))),
    find(session, cwd, reportedFolder) {
      if (!isSessionId(session)) return undefined;
      const likely = [
        ...(reportedFolder === undefined ? [] : [join(reportedFolder, `${session}.jsonl`)]),
        transcriptPath(configFolder, realOrSame(cwd), session),
      ];
      return likely.find((file) => existsSync(file)) ?? elsewhere(configFolder, session);
    },
  };
}

function configFolderOf(environment: Readonly<Record<string, string | undefined>>): string {
  return environment.CLAUDE_CONFIG_DIR || join(environment.HOME || homedir(), '.claude');
}

function elsewhere(configFolder: string, session: string): string | undefined {
  const projects = join(configFolder, 'projects');
  return attempt(() =>
    readdirSync(projects)
      .map((folder) => join(projects, folder, `${session}.jsonl`))
      .find((file) => existsSync(file)),
  );
}

/** The maximum length of a string. */
const MAX_TEXT_BYTES = 512 * 1024 * 1024;

/** Empty if the file does not exist. */
export function readIfExists(file: string | undefined): string {
  if (file === undefined) return '';
  return attempt(() => readRegularFileSync(file, MAX_TEXT_BYTES).toString('utf8')) ?? '';
}
