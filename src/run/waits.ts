import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { deadlineOf } from '../model/tally.ts';

/** A wait that ends by itself: of an agent, or for the usage limit of an executor. */
export type Wait = { readonly until: number } & (
  | { readonly agent: string }
  | { readonly limit: string }
);

/** The pauses before retries, the deadlines of questions and joins, and the usage limits. */
export function waitsOf(run: Run): readonly Wait[] {
  const { tally, agents } = run;
  const limits = Object.entries(run.limits).map(([limit, until]) => ({ limit, until }));
  if (tally.waiting + tally.deadlines === 0) return limits;
  return [
    ...limits,
    ...[...agents].flatMap(([agent, { status }]) => {
      const until = status.kind === 'waiting' ? status.until : deadlineOf(status);
      return until === undefined ? [] : [{ agent, until }];
    }),
  ];
}

/** The input that reports the end of a wait. */
export function endOfWait(wait: Wait, at: number): Input {
  if ('limit' in wait) return { kind: 'usage-limit-over', at };
  return { kind: 'time-came', at, agent: wait.agent };
}
