/** What one process says to another that works on a run, sealed by the user's key. */
import * as z from 'zod/mini';
import type { UserKey } from './user-key.ts';

export const messageSchema = z.discriminatedUnion('kind', [
  /** `askedAt` names the question: an answer that comes twice finds it gone. */
  z.object({ kind: z.literal('answer'), agent: z.string(), askedAt: z.number(), text: z.string() }),
  /** `pid` is the process to be stopped: a later one that goes on with the run is not meant. */
  z.object({ kind: z.literal('stop'), how: z.enum(['drain', 'now']), pid: z.int() }),
]);
export type Message = z.infer<typeof messageSchema>;

/** A message as it is written down. The seal is over the text, so that no byte of it can differ. */
const letterSchema = z.object({ message: z.string(), seal: z.string() });

/** For one run only: what was said to another one is not said to this one. */
export async function sealMessage(key: UserKey, run: string, message: Message): Promise<string> {
  const text = JSON.stringify(message);
  return JSON.stringify({ message: text, seal: await key.seal(PURPOSE, sealed(run, text)) });
}

/** The message of a letter; undefined when no command of the user wrote it. */
export async function openLetter(
  key: UserKey,
  run: string,
  letter: string,
): Promise<Message | undefined> {
  const { data } = z.safeParse(letterSchema, parsed(letter));
  if (!data || !(await key.isSealed(PURPOSE, sealed(run, data.message), data.seal)))
    return undefined;
  return z.safeParse(messageSchema, parsed(data.message)).data;
}

const PURPOSE = 'message';

const sealed = (run: string, text: string) => `${run}\0${text}`;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
