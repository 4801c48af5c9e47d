import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { transcriptPath } from './transcript.ts';

/** Finds and reads the files in which Claude Code keeps its conversations. */
export interface Transcripts {
  /** The file of a session, in whatever directory it began; `said` is a folder that the agent named. */
  find(session: string, cwd: string, said?: string): string | undefined;
}

export function transcriptsIn(
  environment: Readonly<Record<string, string | undefined>>,
): Transcripts {
  const configFolder = configFolderOf(environment);
  return {
    find(session, cwd, said) {
      const likely = [
        ...(said === undefined ? [] : [join(said, `${session}.jsonl`)]),
        transcriptPath(configFolder, realPath(cwd), session),
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
  try {
    return readdirSync(projects)
      .map((folder) => join(projects, folder, `${session}.jsonl`))
      .find((file) => existsSync(file));
  } catch {
    return undefined;
  }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** What a string can hold. */
const MAX_TEXT_BYTES = 512 * 1024 * 1024;

/** Empty when there is none. */
export function readIfThere(file: string | undefined): string {
  if (file === undefined) return '';
  try {
    return readRegularFileSync(file, MAX_TEXT_BYTES).toString('utf8');
  } catch {
    return '';
  }
}
