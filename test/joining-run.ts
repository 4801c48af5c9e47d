/** Runs whose first agent joins its children. */
import { expect } from 'vitest';
import type { RunEvent } from '../src/model/event.ts';
import { failed, makeRun, type Stage } from './make-run.ts';

export const flow = { START: [], W: [], 'S.sh': [], MERGE: [], LATE: [], REPAIR: [] };
export const settings = { budgetUsd: 0, maxParallelPrompts: 99 };

/** A run whose first agent has forked three children and joins them. */
export function joining(
  join: string,
  options: Partial<typeof settings & { failFast: boolean }> = {},
) {
  const stage = makeRun(flow, { settings: { ...settings, ...options } });
  stage.turn(`<fork item="a">W</fork><fork>W</fork><fork>W</fork>${join}`);
  return stage;
}

export const reports = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'join-reported' ? [event] : []));

/** `reached MERGE.md: ended a, failed, running` of the only report to the first agent. */
export function reported(stage: Stage): string | undefined {
  const own = reports(stage.events).filter(({ agent }) => agent === 'main');
  const [report, ...more] = own;
  if (!report) return undefined;
  expect(more).toEqual([]);
  const rows: readonly { status: string; result: string | null }[] = JSON.parse(report.input);
  const texts = rows.map(({ status, result }) => `${status}${result === null ? '' : ` ${result}`}`);
  return `${report.why} ${report.state}: ${texts.join(', ')}`;
}

export function timeCame(stage: Stage, agent = 'main', later = 3_600_000): readonly RunEvent[] {
  return stage.handle({ kind: 'time-came', at: stage.now + later, agent });
}

export const ok = (stage: Stage, n: number, result = `r${n}`) =>
  stage.turn(`<result>${result}</result>`, `main_w${n}`);
export const bad = (stage: Stage, n: number) => stage.turn(failed('refused'), `main_w${n}`);
