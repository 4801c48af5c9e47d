/** Which runs the list shows, and in which order. The address has it, so a link shows the same list. */
import type { RunRow, StoredRow } from '../../src/look/run-shape.ts';
import { clock, msOf } from '../lib/words.ts';

export const KINDS = ['all', 'active', 'waiting', 'failed', 'stopped', 'finished'] as const;
export type Kind = (typeof KINDS)[number];

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  all: 'All',
  active: 'Active',
  waiting: 'Waits for me',
  failed: 'Failed',
  stopped: 'Stopped',
  finished: 'Completed',
};

export const SORTS = ['newest', 'changed', 'cost', 'time'] as const;
export type Sort = (typeof SORTS)[number];

export const SORT_NAMES: Readonly<Record<Sort, string>> = {
  newest: 'Newest first',
  changed: 'Last change first',
  cost: 'Highest cost first',
  time: 'Longest work first',
};

export interface Listing {
  readonly kind: Kind;
  readonly words: string;
  readonly sort: Sort;
}

/** The listing in the query of an address. */
export function listingIn(search: string): Listing {
  const query = new URLSearchParams(search);
  return {
    kind: KINDS.find((kind) => kind === query.get('show')) ?? 'all',
    words: query.get('find') ?? '',
    sort: SORTS.find((sort) => sort === query.get('sort')) ?? 'newest',
  };
}

/** What is as usual is left out, so the usual address is short. */
export function searchOf({ kind, words, sort }: Listing, project?: string): string {
  const query = new URLSearchParams({
    ...(project !== undefined && { project }),
    ...(kind !== 'all' && { show: kind }),
    ...(words !== '' && { find: words }),
    ...(sort !== 'newest' && { sort }),
  }).toString();
  return query === '' ? '' : `?${query}`;
}

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
        run.agents.failed + run.agents.failed_joined > 0
      );
    case 'stopped':
      return run.status === 'stopped' || run.status === 'interrupted' || run.status === 'paused';
    case 'finished':
      return run.status === 'completed';
  }
}

/**
 * Every word occurs in what a person knows of the run: its id, workflow, status, input, result, failure
 * or date. `cost>1` and `cost<0.5` compare the cost, and `after:2026-11-01` and `before:` the day.
 */
export function hasWords(run: RunRow, words: string): boolean {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return true;
  const text = textOf(run);
  return wanted.every((word) => comparison(run, word) ?? text.includes(word));
}

function textOf(run: RunRow): string {
  const parts =
    run.status === 'damaged'
      ? [run.problem.message]
      : [
          run.workflow,
          STATUS_WORDS[run.status] ?? '',
          ...[run.input, run.result, run.failure].map((bounded) => bounded?.text ?? ''),
          clock(run.started_at, 0),
          run.started_at.slice(0, 10),
        ];
  return [run.id, run.condition, ...parts].join(' ').toLowerCase();
}

const STATUS_WORDS: Readonly<Partial<Record<StoredRow['status'], string>>> = {
  interrupted: 'stopped by you',
};

/** Undefined if the word compares nothing. */
function comparison(run: RunRow, word: string): boolean | undefined {
  const [, sign, usd] = /^cost([<>])\$?(\d+(?:\.\d+)?)$/.exec(word) ?? [];
  const [, when, day] = /^(after|before):(\d{4}-\d\d-\d\d)$/.exec(word) ?? [];
  if (usd === undefined && day === undefined) return undefined;
  if (run.status === 'damaged') return false;
  if (usd !== undefined)
    return sign === '>' ? run.cost_usd > Number(usd) : run.cost_usd < Number(usd);
  // A day is a day of the person, not of the server.
  const from = new Date(`${day}T00:00:00`).getTime();
  return when === 'after' ? msOf(run.started_at) >= from : msOf(run.started_at) < from;
}

/** The runs are the newest first. Those that cannot be read stay at the end. */
export function listedRuns(runs: readonly RunRow[], { kind, words, sort }: Listing) {
  const shown = runs.filter((run) => isKind(run, kind) && hasWords(run, words));
  if (sort === 'newest') return shown;
  return shown.toSorted((a, b) => rank(b, sort) - rank(a, sort));
}

function rank(run: RunRow, sort: Exclude<Sort, 'newest'>): number {
  if (run.status === 'damaged') return -1;
  switch (sort) {
    case 'changed':
      return msOf(run.updated_at);
    case 'cost':
      return run.cost_usd;
    case 'time':
      return run.worked_ms;
  }
}
