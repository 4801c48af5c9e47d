// Recognises the texts in which Claude Code reports a usage limit. Only for texts of result and rate-limit
// events, because an agent's own text may quote such a text.
import { readReset } from '../agents/reset-time.ts';

export function readUsageLimit(
  message: string,
  now: number,
  localZone?: string,
): { readonly resetsAt?: number } | undefined {
  const text = message.slice(0, 2_000);
  if (!wordings.some((wording) => wording.test(text))) return undefined;
  const resetsAt = readReset(text, now, localZone);
  return resetsAt === undefined ? {} : { resetsAt };
}

const wordings = [
  /\b(?:hit|reached|exceeded) (?:your|the) (?:[\w.'’-]+ ){0,5}limits?\b/i,
  /(?<!not your )\busage limits? (?:has been )?(?:reached|exceeded)/i,
  /\b(?:hour|session|daily|weekly|monthly|spend|opus|sonnet|haiku|fable) limit reached/i,
  /\bout of extra usage\b.*\bresets\b/i,
];
