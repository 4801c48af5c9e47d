/**
 * The guard of a worker is a small process. When the lease of the worker is over, it ends the processes of
 * the steps, even if the worker is suspended or was killed. It learns everything from the worker through a pipe.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import {
  identify,
  isAlive,
  type ProcessIdentity,
  signalProcess,
} from '../../execute/process/index.ts';
import type { Guard } from '../../fleet/ports.ts';
import { type Disk, readText, replaceFile } from '../../journal/disk.ts';
import { attempt } from '../../model/attempt.ts';

/** The words of a worker to its guard, one JSON object per line. */
export type GuardWord =
  | { readonly kind: 'worker'; readonly identity: ProcessIdentity; readonly graceMs: number }
  /** In milliseconds since the machine started. */
  | { readonly kind: 'renew'; readonly deadline: number }
  | { readonly kind: 'watch' | 'unwatch'; readonly folder: string }
  /** The worker is awake and ends its steps. */
  | { readonly kind: 'ending' }
  /** The worker has ended its steps itself. */
  | { readonly kind: 'end' };

export interface GuardParts {
  readonly disk: Disk;
  /** The file that names the guard, for the next worker in the same folder. */
  readonly file: string;
  readonly worker: ProcessIdentity;
  readonly leaseMs: number;
  readonly folderOf: (run: string) => string;
}

/** Ends the guard of an earlier worker, so that its steps can be adopted. */
export async function endOldGuard({ disk, file }: Pick<GuardParts, 'disk' | 'file'>) {
  const old = await readIdentity(disk, file);
  if (!old) return;
  signalProcess(old, 'SIGKILL');
  while (isAlive(old)) await delay(10);
}

/** Starts a guard. If it dies, another one takes its place. */
export function startGuard(parts: GuardParts): Guard {
  const { worker, leaseMs } = parts;
  const folders = new Set<string>();
  let deadline: number | undefined;
  let isEnded = false;
  let child = begin();

  function begin(): ChildProcess {
    const [, program = ''] = process.argv;
    const started = spawn(process.execPath, [...process.execArgv, program, '__guard'], {
      detached: true,
      windowsHide: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: environment(),
    });
    started.unref();
    started.stdin?.on('error', () => {});
    started.on('error', () => {});
    started.once('exit', () => {
      if (isEnded) return;
      child = begin();
    });
    const tellNew = (word: GuardWord) => started.stdin?.write(`${JSON.stringify(word)}\n`);
    tellNew({ kind: 'worker', identity: worker, graceMs: leaseMs / 20 });
    for (const folder of folders) tellNew({ kind: 'watch', folder });
    if (deadline !== undefined) tellNew({ kind: 'renew', deadline });
    const identity = started.pid === undefined ? undefined : identify(started.pid);
    if (identity)
      void replaceFile(parts.disk, parts.file, JSON.stringify(identity)).catch(() => {});
    return started;
  }

  const tell = (word: GuardWord) => child.stdin?.write(`${JSON.stringify(word)}\n`);
  return {
    renew(until) {
      // The worker gets the first chance to end its steps itself.
      deadline = until + leaseMs / 12;
      tell({ kind: 'renew', deadline });
    },
    watch(run) {
      const folder = parts.folderOf(run);
      if (folders.has(folder)) return;
      folders.add(folder);
      tell({ kind: 'watch', folder });
    },
    unwatch(run) {
      const folder = parts.folderOf(run);
      if (folders.delete(folder)) tell({ kind: 'unwatch', folder });
    },
    ending: () => void tell({ kind: 'ending' }),
    end() {
      isEnded = true;
      tell({ kind: 'end' });
      child.stdin?.end();
    },
  };
}

/** It needs no secrets. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, SystemRoot } = process.env;
  return { PATH, HOME, TMPDIR, SystemRoot };
}

async function readIdentity(disk: Disk, file: string): Promise<ProcessIdentity | undefined> {
  const text = await readText(disk, file, MOST_BYTES);
  return z.safeParse(
    identitySchema,
    attempt(() => JSON.parse(text ?? 'null')),
  ).data;
}

const MOST_BYTES = 10_000;

const identitySchema = z.object({
  pid: z.int().check(z.minimum(2)),
  started: z.string(),
  boot: z.string(),
});
