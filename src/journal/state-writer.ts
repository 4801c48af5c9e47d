/**
 * Keeps a run's state file up to date for whoever looks at it. Writing all agents at every step would
 * make a step dearer with every agent, so a newer run only replaces the one that waits to be written,
 * and the pause between two writes grows with what a write takes. The journal is what counts: trouble
 * here is reported, and does not hurt the run.
 */
import { visibleJson } from '../model/visible.ts';
import type { Clock } from '../ports.ts';
import { type Disk, replaceFile } from './disk.ts';

export interface StateWriter<R> {
  update(run: R): void;
  /** Writes the newest run, whatever the pause. */
  close(): Promise<void>;
}

export interface StateWriterParts<R> {
  readonly disk: Disk;
  readonly path: string;
  readonly clock: Clock;
  /** Rejects when the run is not ours any more: then the file is somebody else's, too. */
  confirm(): Promise<void>;
  /** JSON that shows the run. */
  freeze(run: R): unknown;
  report(error: unknown): void;
}

const MIN_PAUSE_MS = 1_000;
/** At most a twentieth of the time is spent on writing. */
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
