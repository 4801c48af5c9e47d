/**
 * Takes a session to another machine: its transcript and the notes about it. Claude Code needs nothing
 * else to continue or branch it, in any directory.
 */
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { packFiles, unpackFiles } from '../../files/packed-files.ts';
import type { SessionTravel } from '../../ports.ts';
import type { RunProcesses } from '../process/index.ts';
import { isSessionId } from '../steps/kept-notes.ts';
import { replaceFile } from '../turn/replace-file.ts';
import { writeTurnFile } from '../turn/turn-file.ts';
import { noteSchema, readTurn, type SessionNotes, turnSchema } from './records.ts';
import { readIfExists, type Transcripts } from './transcripts.ts';
import type { Warm } from './warm.ts';

interface Memory {
  readonly transcripts: Transcripts;
  readonly notes: SessionNotes;
  readonly warm: Pick<Warm, 'end'>;
  readonly processes: Pick<RunProcesses, 'seals'>;
}

export function claudeTravel({ transcripts, notes, warm, processes }: Memory): SessionTravel {
  const { seals } = processes;
  const read = (session: string, cwd: string) =>
    readIfExists(transcripts.find(session, cwd, notes.read(session)?.transcripts));
  const endProcess = (session: string) => warm.end((process) => process.session === session);
  return {
    async pack(session, { cwd, folder, isAnswered, clean }) {
      const { transcripts: _, ...note } = notes.read(session) ?? {};
      const isWhole = () => isComplete(read(session, cwd), note.checkpoint);
      // A process that waits for its next prompt writes the transcript a moment after its answer.
      for (let tries = 0; tries < MOST_LOOKS && !isWhole(); tries++) await pause(LOOK_MS);
      if (!isWhole()) await endProcess(session);
      const text = wholeLines(read(session, cwd));
      const isCurrent = isComplete(text, note.checkpoint);
      if (text === '' || (isAnswered && !isCurrent)) return undefined;
      const bytes = clean(Buffer.from(text));
      if (!bytes) return undefined;
      const { checkpoint: _missing, ...older } = note;
      const turn = readTurn(seals, folder);
      return packFiles({
        note: { ...(isCurrent ? note : older), ...(turn && { turn }) },
        files: [{ name: FILE, bytes }],
      });
    },
    async unpack(session, packed, { cwd, previousFolder }) {
      if (!isSessionId(session)) throw new Error(`${session} is not the id of a session`);
      const {
        note: { turn, ...note },
        files,
      } = await unpackFiles(packed, packedSchema);
      const transcript = files.find(({ name }) => name === FILE);
      if (!transcript) throw new Error(`The stored session ${session} has no transcript`);
      // It does not know what the session has learnt elsewhere.
      await endProcess(session);
      const folder = transcripts.folderFor(cwd);
      await replaceFile(`${folder}/${session}.jsonl`, transcript.bytes);
      notes.write(session, { ...note, transcripts: folder });
      // The prompt of an attempt that failed elsewhere must not be in the history twice.
      if (turn && previousFolder !== undefined && !readTurn(seals, previousFolder))
        writeTurnFile(seals, previousFolder, turn);
    },
  };
}

/** `turn` is the newest turn of the session. */
const packedSchema = z.extend(noteSchema, { turn: z.optional(turnSchema) });

const FILE = 'transcript.jsonl';
const LOOK_MS = 20;
const MOST_LOOKS = 100;

/**
 * A process that was killed may leave half a line, and may have reported messages that it did not write.
 * The agent continues with what it wrote, on this machine as on others.
 */
const wholeLines = (text: string) => text.slice(0, text.lastIndexOf('\n') + 1);

/** Whether the transcript has the newest message, and its last line is whole. */
function isComplete(text: string, checkpoint: string | undefined): boolean {
  return text.endsWith('\n') && (checkpoint === undefined || text.includes(`"${checkpoint}"`));
}
