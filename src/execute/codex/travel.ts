/**
 * Takes a session to another machine: the rollout of its thread, and that of every thread from which it
 * was forked, up to the fork. A forked rollout refers to the others instead of repeating them.
 */
import * as z from 'zod/mini';
import { type NamedBytes, packFiles, unpackFiles } from '../../files/packed-files.ts';
import { parsed } from '../../model/attempt.ts';
import type { SessionTravel } from '../../ports.ts';
import type { StepSeals } from '../steps/step-seals.ts';
import { replaceFile } from '../turn/replace-file.ts';
import { writeTurnFile } from '../turn/turn-file.ts';
import { noteSchema, readTurn, type Threads, turnSchema } from './threads.ts';

export function codexTravel(threads: Threads, seals: StepSeals): SessionTravel {
  return {
    async pack(session, { folder, clean }) {
      const note = threads.read(session) ?? { thread: session };
      const files = lineOf(threads, note.thread);
      const turn = readTurn(seals, folder);
      const newest = turn?.wasHeard && { turn };
      // Rollouts refer to each other by their lengths, so a secret cannot be removed from one.
      const isClean = files?.every(({ bytes }) => {
        const cleaned = clean(bytes);
        return cleaned !== undefined && Buffer.from(bytes).equals(cleaned);
      });
      if (!files || !isClean) return undefined;
      return packFiles({ note: { ...note, ...newest }, files });
    },
    async unpack(session, packed, { previousFolder }) {
      const {
        note: { turn, ...note },
        files,
      } = await unpackFiles(packed, packedSchema);
      const [own, ...earlier] = files;
      if (!own?.name.endsWith(`-${note.thread}.jsonl`))
        throw new Error(`The stored session ${session} has no rollout`);
      for (const { name, bytes } of earlier)
        if (!beginsWith(threads.rollout(name), bytes))
          await replaceFile(threads.pathOf(name), bytes);
      await replaceFile(threads.pathOf(own.name), own.bytes);
      threads.write(note.thread, note);
      threads.write(session, note);
      // The prompt of an attempt that failed elsewhere is not sent again.
      if (turn && previousFolder !== undefined && !readTurn(seals, previousFolder))
        writeTurnFile(seals, previousFolder, turn);
    },
  };
}

/** `turn` is the newest turn of the session. */
const packedSchema = z.extend(noteSchema, { turn: z.optional(turnSchema) });

/** The rollout of a thread, and those on which it is based. Undefined if one is missing. */
function lineOf(threads: Threads, thread: string): readonly NamedBytes[] | undefined {
  const line: NamedBytes[] = [];
  let next: Base | undefined = { thread_id: thread };
  while (next) {
    const { thread_id: id, end_byte_offset: end }: Base = next;
    const name = threads.find(id);
    const bytes = name === undefined ? undefined : threads.rollout(name);
    if (name === undefined || !bytes || bytes.length < (end ?? 1) || line.length === LONGEST_LINE)
      return undefined;
    line.push({ name, bytes: bytes.subarray(0, end) });
    next = baseOf(bytes);
  }
  return line;
}

const LONGEST_LINE = 1000;

const baseSchema = z.object({ thread_id: z.string(), end_byte_offset: z.optional(z.int()) });
const firstLineSchema = z.object({
  payload: z.object({ history_base: z.optional(baseSchema) }),
});

type Base = z.infer<typeof baseSchema>;

/** The thread of which a rollout is the continuation. Older versions of codex copy it instead. */
function baseOf(rollout: Uint8Array): Base | undefined {
  const end = rollout.indexOf(10);
  const first = parsed(Buffer.from(rollout.subarray(0, end)).toString('utf8'));
  return z.safeParse(firstLineSchema, first).data?.payload.history_base;
}

function beginsWith(content: Buffer | undefined, prefix: Uint8Array): boolean {
  return content?.subarray(0, prefix.length).equals(prefix) === true;
}
