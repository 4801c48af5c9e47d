/** The text of a lock file. */
import * as z from 'zod/mini';
import { parsed } from '../model/attempt.ts';
import type { LocatedProcess, LockOwner } from './lock-owner.ts';

/** The beat comes last and has a fixed width, so it can be overwritten. */
export function lockText(owner: LocatedProcess & { readonly token: string }, beat: number): string {
  const { pid, started, boot, space, host, token } = owner;
  return `${JSON.stringify({ pid, started, boot, space, host, token }).slice(0, -1)},"beat":${beatText(beat)}`;
}

export const beatText = (beat: number) => `${String(Math.trunc(beat)).padStart(BEAT_DIGITS, ' ')}}`;
const BEAT_DIGITS = 15;

/** Undefined for a damaged file. A lock file appears complete, so a damaged one has no owner. */
export function ownerIn(text: string): LockOwner | undefined {
  return z.safeParse(ownerSchema, parsed(text)).data;
}

const ownerSchema = z.object({
  pid: z.int().check(z.positive()),
  started: z.string(),
  boot: z.string(),
  space: z.optional(z.string()),
  host: z.optional(z.string()),
  beat: z.optional(z.number()),
});
