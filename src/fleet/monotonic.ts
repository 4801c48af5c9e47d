/** Milliseconds since the machine started. Processes of one machine can compare them. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
