/**
 * What a sandbox has refused. The processes of the step can forge it, so it only informs: the kernel has
 * decided already.
 */
import { existsSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isWithin, readIfSmallSync } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import type { Refusal, UsedRight } from '../../model/rights.ts';
import type { Live, Step, StepOutcome } from '../../ports.ts';
import { realOf } from '../agents/protected-files.ts';
import { newCommandFiles } from './confinement.ts';

/** The file of a step's folder to which the process of its sandbox adds lines. */
export const refusalsFile = (folder: string): string => join(folder, 'refusals');

/** Since a moment, because a process can serve several steps. */
export function recordedRefusals(folder: string, sinceMs: number): readonly Refusal[] {
  return bounded(linesIn(folder, sinceMs).flatMap(refusalIn));
}

/** What a step that learns its rights has changed and reached. Its own files are no rights of its state. */
export function recordedUses(
  folder: string,
  sinceMs: number,
  { cwd, rights }: Pick<Step, 'cwd' | 'rights'>,
): readonly UsedRight[] {
  const lines = rights?.learns ? linesIn(folder, sinceMs) : [];
  const home = realOf(cwd);
  const task = rights?.taskFolder === undefined ? undefined : realOf(rights.taskFolder);
  const used = lines.flatMap((line): readonly UsedRight[] => {
    const [, kind, what] = /^used (\S+) (.*)$/.exec(line) ?? [];
    if (what === undefined) return [];
    if (kind === 'network-outbound') return [{ right: 'network', what }];
    if (what === home || !isWithin(home, what)) return [];
    if (task !== undefined && isWithin(task, what)) return [];
    return [{ right: 'write', what: topOf(home, what) }];
  });
  const distinct = new Map(used.map((one) => [`${one.right} ${one.what}`, one]));
  return [...distinct.values()].slice(0, MOST);
}

/** A file at the top can be replaced only by a step that may change the folder. */
function topOf(home: string, path: string): string {
  const [first = '', ...deeper] = relative(home, path).split('/');
  const isFolder = deeper.length > 0 || (attempt(() => statSync(path).isDirectory()) ?? false);
  return isFolder ? first : '.';
}

function linesIn(folder: string, sinceMs: number): readonly string[] {
  const text =
    attempt(() => readIfSmallSync(refusalsFile(folder), MOST_BYTES).bytes)?.toString() ?? '';
  return text.split('\n').flatMap((line) => {
    const { at, line: said } = attempt(() => JSON.parse(line) as Record<string, unknown>) ?? {};
    return typeof at === 'number' && at >= sinceMs && typeof said === 'string' ? [said] : [];
  });
}

/** When a step of an earlier Raymond process began, or somewhat earlier: its folder can be one that was used before. */
export const beginOf = (folder: string): number =>
  attempt(() => statSync(folder).birthtimeMs) ?? Date.now();

/** What the standard error of a command shows. Bubblewrap itself records nothing. */
export function visibleRefusals(stderr: string): readonly Refusal[] {
  const writes = [...stderr.matchAll(READ_ONLY)].map(([, path = '']) => path.trim());
  const hosts = [...stderr.matchAll(NO_HOST)].map(([, host = '']) => host.replace(/[.,;]+$/, ''));
  return bounded([...writes.map(refused('write')), ...hosts.map(refused('network'))]);
}

/** The outcome of a step, with what was refused to it and what it used. */
export function withRecords(
  outcome: StepOutcome,
  refused: readonly Refusal[],
  used: readonly UsedRight[],
): StepOutcome {
  const more = { ...(refused.length > 0 && { refused }), ...(used.length > 0 && { used }) };
  return { ...outcome, account: { ...outcome.account, ...more } };
}

/** No mount can keep a file from being created, so the person has to look at it. */
export function warnOfCommandFiles(step: Step, sinceMs: number, live: (live: Live) => void): void {
  const { state, cwd, rights } = step;
  const made = rights ? newCommandFiles(rights, cwd, sinceMs) : [];
  if (made.length === 0) return;
  const home = realOf(cwd);
  const names = made.map((path) => (isWithin(home, path) ? relative(home, path) : path));
  const text = `${state} made ${names.join(', ')}. Programs take commands from such files by themselves. Read what is in them before you work there.`;
  live({ kind: 'warning', text });
}

const MOST_BYTES = 4 * 1024 * 1024;

const READ_ONLY = /(?:^|[:'‘"\s])((?:\.{0,2}\/)?[^\s:'’"]+)['’"]?: Read-only file system/gim;
const NO_HOST = /(?:Could not resolve host:? |Failed to connect to )(\S+)/gi;

function refusalIn(line: string): readonly Refusal[] {
  const network = /^deny network-outbound (\S+)/.exec(line)?.[1];
  if (network !== undefined) return [refused('network')(network)];
  const [, kind, path] = /^deny (\S+) (\/.*)$/.exec(line) ?? [];
  if (path === undefined || OF_PROGRAMS.test(path)) return [];
  // Programs make the folders above a new one, whether they exist or not.
  if (kind?.startsWith('mkdir') && existsSync(path)) return [];
  return [refused(kind?.startsWith('file-read') ? 'hide' : 'write')(path)];
}

const refused =
  (right: Refusal['right']) =>
  (what: string): Refusal => ({ right, what });

/** Programs try these on their own, and do without. */
const OF_PROGRAMS = /^\/(?:proc|dev|sys)\/|^\/tmp\/[^/]+$/;

/** A journal must not grow with what a step tries in vain. */
function bounded(refusals: readonly Refusal[]): readonly Refusal[] {
  const clipped = refusals.map((one) => refused(one.right)(one.what.slice(0, LONGEST)));
  const distinct = new Map(clipped.map((one) => [`${one.right} ${one.what}`, one]));
  return [...distinct.values()].slice(0, MOST);
}

const MOST = 20;
const LONGEST = 500;
