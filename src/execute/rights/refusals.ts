/**
 * What a sandbox has refused, in words for the author. The processes of the step can forge it, so it only
 * informs: the kernel has decided already.
 */
import { join } from 'node:path';
import { readIfSmallSync } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';

/** The file of a step's folder to which the process of its sandbox adds lines. */
export const refusalsFile = (folder: string): string => join(folder, 'refusals');

/** Since a moment, because a process can serve several steps. */
export function recordedRefusals(folder: string, sinceMs: number): readonly string[] {
  const text =
    attempt(() => readIfSmallSync(refusalsFile(folder), MOST_BYTES).bytes)?.toString() ?? '';
  const lines = text.split('\n').flatMap((line) => {
    const { at, line: said } = attempt(() => JSON.parse(line) as Record<string, unknown>) ?? {};
    return typeof at === 'number' && at >= sinceMs && typeof said === 'string' ? [said] : [];
  });
  return worded(lines.flatMap(refusalIn));
}

/** What the standard error of a command shows. Bubblewrap itself records nothing. */
export function visibleRefusals(stderr: string): readonly string[] {
  const writes = [...stderr.matchAll(READ_ONLY)].map(([, path = '']) => `write ${path.trim()}`);
  const hosts = [...stderr.matchAll(NO_HOST)].map(([, host]) => `network ${host ?? ''}`.trim());
  return worded([...writes, ...hosts]);
}

const MOST_BYTES = 1024 * 1024;

const READ_ONLY = /(?:^|[:'‘"\s])((?:\.{0,2}\/)?[^\s:'’"]+)['’"]?: Read-only file system/gim;
const NO_HOST =
  /(?:Could not resolve host:? |Failed to connect to |Network is unreachable[^\n]*?)(\S+)?/gi;

function refusalIn(line: string): readonly string[] {
  const network = /^deny network-outbound (\S+)/.exec(line)?.[1];
  if (network !== undefined) return [`network ${network}`];
  const path = /^deny \S+ (\/.*)$/.exec(line)?.[1];
  return path === undefined || OF_PROGRAMS.test(path) ? [] : [`write ${path}`];
}

/** Programs try these on their own, and do without. */
const OF_PROGRAMS = /^\/(?:proc|dev|sys)\/|^\/tmp\/[^/]+$/;

function worded(refused: readonly string[]): readonly string[] {
  const all = [...new Set(refused)];
  if (all.length === 0) return [];
  const shown = all.slice(0, MOST_SHOWN).join(', ');
  const more = all.length > MOST_SHOWN ? ` and ${all.length - MOST_SHOWN} more` : '';
  const keys = [...new Set(all.map((one) => `rights.${one.split(' ')[0]}`))].join(' and ');
  return [`the sandbox refused: ${shown}${more}. To allow it, add it to ${keys} of the state.`];
}

const MOST_SHOWN = 8;
