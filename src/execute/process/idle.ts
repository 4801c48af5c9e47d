import { statSync } from 'node:fs';

export interface IdleWatch {
  readonly files: readonly string[];
  /** 0 is none. */
  readonly idleTimeoutMs: number;
  /** Called once, when no file has changed for that long. */
  readonly onIdle: () => void;
}

/**
 * Watches for silence; returns how to end the watch. It counts its own looks and not the clock, so
 * that the hours in which a laptop slept are not taken for a silence of the process.
 */
export function watchIdle({ files, idleTimeoutMs, onIdle }: IdleWatch): () => void {
  if (idleTimeoutMs <= 0) return () => {};
  const looks = Math.min(Math.max(Math.ceil(idleTimeoutMs / 1000), 10), 600);
  let seen = sizesOf(files);
  let silentLooks = 0;
  const timer = setInterval(() => {
    const sizes = sizesOf(files);
    silentLooks = sizes === seen ? silentLooks + 1 : 0;
    seen = sizes;
    if (silentLooks < looks) return;
    clearInterval(timer);
    onIdle();
  }, idleTimeoutMs / looks);
  return () => clearInterval(timer);
}

function sizesOf(files: readonly string[]): string {
  return files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0).join(' ');
}
