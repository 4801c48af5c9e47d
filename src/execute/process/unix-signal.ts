export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile, or it is another user's; whoever asks looks again for what is left.
  }
}
