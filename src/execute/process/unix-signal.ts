export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended, or it belongs to another user. The caller checks again what is alive.
  }
}
