// Nothing of a step outlives its stop, and nothing else is ever signalled: a process gets a signal
// only after its start time has been compared, right before.
import { realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { boot, isAlive, living, type ProcessIdentity } from './identity.ts';
import { type ProcessRecord, readRecord, stderrOf, stdoutOf } from './record.ts';
import { type Mark, type ProcessEntry, system } from './system.ts';
import { belonging, isSame } from './tree.ts';

type Member = ProcessIdentity & Pick<ProcessEntry, 'group'>;

/** How long a killed process may take to disappear before we look again. */
const SETTLE_MS = 1000;
const ROUNDS = 20;

/**
 * Ends a step's whole tree. SIGINT first, with `graceMs` for the command to end in order; then
 * SIGTERM for what it left (the background jobs of a shell do not hear SIGINT) and a fifth of that
 * time; then SIGKILL until nothing is left. Answers with what could not be ended, normally nothing.
 */
export async function stopTree(
  folder: string,
  record: ProcessRecord,
  graceMs = 5000,
): Promise<readonly ProcessIdentity[]> {
  const find = finder(folder, record);
  send(withoutWrapper(find(), record), 'SIGINT');
  await until(() => !isAlive(record.identity), graceMs);
  return endAll(record, find, graceMs / 5);
}

/** Ends what a step has left running after its command ended. */
export async function endLeftovers(
  folder: string,
  graceMs = 1000,
): Promise<readonly ProcessIdentity[]> {
  const record = readRecord(folder);
  if (record === undefined) return [];
  const find = finder(realpathSync(folder), record);
  // The usual case, and final: where nobody is, nobody can fork.
  return find().length === 0 ? [] : endAll(record, find, graceMs);
}

async function endAll(
  record: ProcessRecord,
  find: () => Member[],
  graceMs: number,
): Promise<readonly ProcessIdentity[]> {
  const asked = withoutWrapper(find(), record);
  send(asked, 'SIGTERM');
  await until(() => living(asked).length === 0, graceMs);

  let wasAlone = false;
  for (let round = 0; round < ROUNDS; round++) {
    const left = find();
    if (left.length === 0) return [];
    const next = withoutWrapper(left, record);
    const isAlone = next === left;
    if (!isAlone || wasAlone) kill(next);
    wasAlone = isAlone;
    await until(() => living(next).length === 0, SETTLE_MS);
  }
  return find();
}

/**
 * The wrapper goes by itself after its command, when it has written how that ended. Only when it is
 * alone, since its command has not begun or it hangs, it is a target itself: then `members` is
 * returned as it is.
 */
function withoutWrapper(members: readonly Member[], { identity }: ProcessRecord) {
  const commands = members.filter((member) => !isSame(member, identity));
  const hasWrapper = commands.length < members.length;
  return hasWrapper && commands.length === 0 ? members : commands;
}

/** Finds the members of the tree again and again, and forgets none: they may lose their parents. */
function finder(folder: string, { identity, token }: ProcessRecord): () => Member[] {
  const mark: Mark = {
    token,
    since: identity.started,
    outputs: [stdoutOf(folder), stderrOf(folder)],
  };
  const known = new Map<string, ProcessIdentity>([[keyOf(identity), identity]]);
  return () => {
    if (identity.boot !== boot()) return [];
    const found = belonging(system.survey(mark), [...known.values()], process.pid);
    const members = found.map((entry) => ({ ...entry, boot: identity.boot }));
    for (const member of members) known.set(keyOf(member), member);
    return members;
  };
}

const keyOf = ({ pid, started }: ProcessIdentity): string => `${pid} ${started}`;

/** A stopped process hears a signal only when it is woken. */
function send(members: readonly Member[], signal: NodeJS.Signals): void {
  for (const { pid } of living(members)) {
    system.signal(pid, signal);
    system.signal(pid, 'SIGCONT');
  }
}

/** A leader goes with its whole group, so that no child which is just being forked slips through. */
function kill(members: readonly Member[]): void {
  for (const { pid, group } of living(members)) {
    if (group === pid) system.signal(-group, 'SIGKILL');
    system.signal(pid, 'SIGKILL');
  }
}

async function until(condition: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = 5; !condition() && performance.now() < deadline; pauseMs *= 1.5) {
    await delay(Math.min(pauseMs, 100));
  }
}
