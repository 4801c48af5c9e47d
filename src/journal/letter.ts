/** A message in its file, sealed by the user's key. */
import * as z from 'zod/mini';
import { parsed } from '../model/attempt.ts';
import { type Message, messageSchema } from '../model/message.ts';
import type { UserKey } from './user-key.ts';

/** A message with its place in the order of posting. Letters of the first release have none: 0. */
export interface Letter {
  readonly message: Message;
  readonly place: number;
}

/** The seal names the run, so a letter to one run is not valid for another. */
export async function writeLetter(key: UserKey, run: string, letter: Letter): Promise<string> {
  const text = JSON.stringify({ ...letter.message, place: letter.place });
  return JSON.stringify({ message: text, seal: await key.seal(PURPOSE, sealed(run, text)) });
}

/** Undefined if no command of the user wrote it. */
export async function openLetter(
  key: Pick<UserKey, 'isSealed'>,
  run: string,
  written: string,
): Promise<Letter | undefined> {
  const { data } = z.safeParse(sealedSchema, parsed(written));
  if (!data || !(await key.isSealed(PURPOSE, sealed(run, data.message), data.seal)))
    return undefined;
  const json = parsed(data.message);
  const message = z.safeParse(messageSchema, json).data;
  return message && { message, place: z.safeParse(placeSchema, json).data?.place ?? 0 };
}

/** The seal covers the text of the message, so no byte of it can change. */
const sealedSchema = z.object({ message: z.string(), seal: z.string() });
const placeSchema = z.object({ place: z.number() });

const PURPOSE = 'message';

const sealed = (run: string, text: string) => `${run}\0${text}`;
