/**
 * Counts how often pieces of code are executed. The count is the same on every machine, fast or
 * busy, so it measures how work grows. Import this before the code to be counted: only code that is
 * compiled afterwards is counted in detail.
 */
import { type Profiler, Session } from 'node:inspector';

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

export function operationsOf(work: () => unknown): number {
  counted();
  work();
  return sum(
    counted().flatMap(({ functions }) =>
      functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)),
    ),
  );
}

/** The executions since the last call. The session has its own thread and answers immediately. */
function counted(): readonly Profiler.ScriptCoverage[] {
  let result: readonly Profiler.ScriptCoverage[] = [];
  session.post('Profiler.takePreciseCoverage', (error, answer) => {
    if (error) throw error;
    result = answer.result;
  });
  return result;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
