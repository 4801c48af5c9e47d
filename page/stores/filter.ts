/** Which runs the list shows. */
import type { RunRow } from '../../src/look/run-shape.ts';

export const KINDS = ['all', 'active', 'waiting', 'failed', 'finished'] as const;
export type Kind = (typeof KINDS)[number];

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  all: 'All',
  active: 'Active',
  waiting: 'Waits for me',
  failed: 'Failed',
  finished: 'Completed',
};

export function isKind(run: RunRow, kind: Kind): boolean {
  switch (kind) {
    case 'all':
      return true;
    case 'active':
      return run.status === 'running' || run.status === 'stopping';
    case 'waiting':
      return run.status !== 'damaged' && run.questions > 0;
    case 'failed':
      return (
        run.status === 'failed' ||
        run.status === 'crashed' ||
        run.status === 'damaged' ||
        run.agents.failed > 0
      );
    case 'finished':
      return run.status === 'completed';
  }
}

/** Every word occurs in the id, the workflow or the status. */
export function hasWords(run: RunRow, words: string): boolean {
  const text = `${run.id} ${run.condition} ${'workflow' in run ? run.workflow : ''}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export function filtered(runs: readonly RunRow[], kind: Kind, words: string): readonly RunRow[] {
  return runs.filter((run) => isKind(run, kind) && hasWords(run, words));
}
