import { cpus, totalmem } from 'node:os';

export type Print = (...lines: readonly string[]) => void;

export function machineLine(): string {
  const [cpu] = cpus();
  const gb = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${gb} GB; the simulated workers and PostgreSQL share them.`;
}

/** A table for a terminal, with a title. */
export function table(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): readonly string[] {
  const all = [head, ...rows.map((row) => row.map(shown))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '),
  );
  return ['', title, ...lines];
}

function shown(value: string | number): string {
  if (typeof value === 'string') return value;
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
