/**
 * Keeps a run's state file up to date. Writing all agents at every step would make steps slower with
 * every agent. Instead, a newer run replaces the one that is waiting to be written, and the pause
 * between two writes grows with the time that a write takes. Only the journal matters: an error here
 * does not affect the run.
 */
import { visibleJson } from '../model/visible.ts';
import type { Clock } from '../ports.ts';
import { type Disk, replaceFile } from './disk.ts';

export interface StateWriter<R> {
  update(run: R): void;
  /** Writes the newest run, without a pause. */
  close(): Promise<void>;
}

interface StateWriterParts<R> {
  readonly disk: Disk;
  readonly path: string;
  readonly clock: Clock;
  /** Rejects if the run is lost, because the file then belongs to another process. */
  confirm(): Promise<void>;
  /** JSON that shows the run. */
  freeze(run: R): unknown;
  report(error: unknown): void;
}

const MIN_PAUSE_MS = 1_000;
/** Writing takes at most a twentieth of the time. */
const PAUSE_PER_WRITING_TIME = 20;

export function stateWriter<R>(parts: StateWriterParts<R>): StateWriter<R> {
  const { disk, path, clock, confirm, freeze, report } = parts;
  let newest: { readonly run: R } | undefined;
  let writing: Promise<void> | undefined;
  let cancelPause: (() => void) | undefined;

  const write = async () => {
    cancelPause = undefined;
    if (!newest) return;
    const { run } = newest;
    newest = undefined;
    const started = clock.now();
    try {
      await confirm();
      await writeState(disk, path, freeze(run));
    } catch (error) {
      report(error);
    }
    const took = clock.now() - started;
    const pause = Math.max(MIN_PAUSE_MS, took * PAUSE_PER_WRITING_TIME);
    cancelPause = clock.at(clock.now() + pause, start);
  };
  const start = () => {
    writing = write().finally(() => {
      writing = undefined;
    });
  };

  return {
    update(run) {
      newest = { run };
      if (!writing && !cancelPause) start();
    },
    async close() {
      await writing;
      cancelPause?.();
      start();
      await writing;
      cancelPause?.();
    },
  };
}

/** Replaces the state file, once. */
export function writeState(disk: Disk, path: string, json: unknown): Promise<void> {
  return replaceFile(disk, path, `${visibleJson(json, 2)}\n`);
}
