import { statSync } from 'node:fs';

interface IdleWatch {
  readonly files: readonly string[];
  /** 0 means no timeout. */
  readonly idleTimeoutMs: number;
  /** While it is true, silence does not count. */
  readonly isResting?: () => boolean;
  /** Called once, when no file has grown for that long. */
  readonly onIdle: () => void;
}

/**
 * Watches for silence; returns a function that ends the watch. It counts its own checks instead of
 * reading the clock, so that the hours in which a laptop slept do not count as silence.
 */
export function watchIdle({ files, idleTimeoutMs, isResting, onIdle }: IdleWatch): () => void {
  if (idleTimeoutMs <= 0) return () => {};
  const checks = Math.min(Math.max(Math.ceil(idleTimeoutMs / 1000), 10), 600);
  let seen = sizesOf(files);
  let silentChecks = 0;
  const timer = setInterval(() => {
    const sizes = sizesOf(files);
    silentChecks = sizes === seen && !isResting?.() ? silentChecks + 1 : 0;
    seen = sizes;
    if (silentChecks < checks) return;
    clearInterval(timer);
    onIdle();
  }, idleTimeoutMs / checks);
  return () => clearInterval(timer);
}

function sizesOf(files: readonly string[]): string {
  return files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0).join(' ');
}
