import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { transcriptPath } from './transcript.ts';

/** Finds and reads the files in which Claude Code keeps its conversations. */
export interface Transcripts {
  /** The file of a session, in whatever directory it began. */
  find(session: string, cwd: string): string | undefined;
  read(session: string, cwd: string): string;
}

export function transcriptsIn(
  environment: Readonly<Record<string, string | undefined>>,
): Transcripts {
  const configFolder = configFolderOf(environment);
  const find = (session: string, cwd: string) => {
    const likely = transcriptPath(configFolder, realPath(cwd), session);
    return existsSync(likely) ? likely : elsewhere(configFolder, session);
  };
  return {
    find,
    read(session, cwd) {
      const file = find(session, cwd);
      return file === undefined ? '' : readIfThere(file);
    },
  };
}

export function configFolderOf(environment: Readonly<Record<string, string | undefined>>): string {
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

function readIfThere(file: string): string {
  try {
    return readRegularFileSync(file, MAX_TEXT_BYTES).toString('utf8');
  } catch {
    return '';
  }
}
