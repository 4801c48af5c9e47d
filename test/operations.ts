/**
 * Counts how often pieces of code are executed. That is the same on every machine, fast or busy: the
 * measure for how work grows. To be imported before the code that is counted, since only what is
 * compiled from then on is counted piece by piece.
 */
import { type Profiler, Session } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';

// Optimised code is not counted in full.
setFlagsFromString('--no-opt');

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

/** What was executed since this was last asked. A session with its own thread answers at once. */
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
