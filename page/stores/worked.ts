import type { StoredRow } from '../../src/look/run-shape.ts';
import { msOf } from '../lib/words.ts';

type Worked = Pick<StoredRow, 'worked_ms' | 'updated_at' | 'agents' | 'pid'>;

/** A row has the work up to its newest event. A step that runs since then adds to it. */
export function workedText(run: Worked, now: number, text: (ms: number) => string): string {
  const isWorking = run.pid !== null && run.agents.running > 0;
  return text(run.worked_ms + (isWorking ? Math.max(0, now - msOf(run.updated_at)) : 0));
}
