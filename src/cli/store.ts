/** The runs of a project, on disk: all that a command needs which only looks at them. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive, processSpace, RunProcesses, self } from '../execute/process/index.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import { realDisk } from '../journal/disk.ts';
import type { RunCodec } from '../journal/file-journal.ts';
import { fileMailbox } from '../journal/file-mailbox.ts';
import { type LockWorld, lockOwner, takeLock } from '../journal/lock.ts';
import { isHere, type LockOwner } from '../journal/lock-owner.ts';
import {
  checkRunFolder,
  findProject,
  type Project,
  type RunPaths,
  runPaths,
} from '../journal/project.ts';
import { freeze, thaw } from '../journal/state-file.ts';
import { userKey } from '../journal/user-key.ts';
import type { Run } from '../model/run.ts';
import type { Clock, Mailbox } from '../ports.ts';
import { stderr } from './terminal.ts';
import { homeFolder, userStateFolder } from './user-folders.ts';

export const disk = realDisk;

export const clock: Clock = {
  now: () => Date.now(),
  at(time, callback) {
    // Timers hold at most 24 days, and a laptop that slept has to look at the clock again.
    let timer: NodeJS.Timeout;
    const look = () => {
      const left = time - Date.now();
      timer =
        left <= 0 ? setTimeout(callback, 0) : setTimeout(look, Math.min(left, LONGEST_NAP_MS));
    };
    look();
    return () => clearTimeout(timer);
  },
};

const LONGEST_NAP_MS = 60_000;

export const newId: () => string = randomUUID;

export const codec: RunCodec<Run> = {
  apply: (run, event) => apply(run ?? newRun, event),
  freeze,
  thaw: (json) => {
    const run = thaw(json);
    if (!run) throw new Error('This is not the state of a run.');
    return run;
  },
};

export function currentProject(cwd = process.cwd()): Promise<Project> {
  return findProject(disk, cwd, homeFolder());
}

export const pathsOf: (project: Project, run: string) => RunPaths = runPaths;

/** What a run has running. */
export function processesOf({ folder }: RunPaths): RunProcesses {
  return new RunProcesses(folder);
}

/** How commands reach a run, and how it knows them. */
export function mailboxOf(run: string, { inbox: folder }: RunPaths): Mailbox {
  return fileMailbox({ disk, folder, run, key });
}

/** By which commands of the user are known. */
export const key = userKey(disk, join(userStateFolder(), 'key'));

export async function lockRun(paths: RunPaths) {
  await checkRunFolder(disk, paths);
  return takeLock(disk, paths.lock, { ...lockWorld(), report: (text) => stderr.say(text) });
}

export function ownerOf({ lock }: RunPaths) {
  return lockOwner(disk, lock, lockWorld());
}

/** Whether an owner can be seen, and signalled, from here: one in another container cannot. */
export function isVisible(owner: LockOwner): boolean {
  return owner.beat === undefined || isHere(owner, lockWorld().self);
}

function lockWorld(): Omit<LockWorld, 'report'> {
  const located = { ...self(), space: processSpace(), host: hostname() };
  return { self: located, clock, isAlive };
}
