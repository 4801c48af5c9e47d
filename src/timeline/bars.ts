/**
 * The spans of a run as bars. Their number is limited: when there are too many, the limit grows, and
 * neighbours that are shorter than it together become one bar.
 */

import type { Span } from '../history/span.ts';
import type { StateName } from '../model/state-name.ts';

export interface Bar {
  readonly kind: Span['kind'];
  readonly workflow: string;
  /** The state of the longest part. */
  readonly state: StateName;
  readonly from: number;
  readonly to: number;
  /** The number of spans. */
  readonly parts: number;
  /** Absent if the bar has several parts. */
  readonly step: number | undefined;
  readonly isPrompt: boolean;
  readonly failed: number;
  readonly costUsd: number;
  readonly isPriced: Span['isPriced'];
  readonly longestMs: number;
}

export class Bars {
  readonly #most: number;
  readonly #rows = new Map<string, Bar[]>();
  #count = 0;
  #shortestMs = 0;
  #from = Number.POSITIVE_INFINITY;
  #to = 0;

  constructor(most = MOST_BARS) {
    this.#most = most;
  }

  add(span: Span): void {
    const row = this.#rows.get(span.agent) ?? [];
    if (row.length === 0) this.#rows.set(span.agent, row);
    this.#count += put(row, barOf(span), this.#shortestMs);
    this.#from = Math.min(this.#from, span.from);
    this.#to = Math.max(this.#to, span.to);
    while (this.#count > this.#most && this.#shortestMs < this.#to - this.#from) this.#merge();
  }

  of(agent: string): readonly Bar[] {
    return this.#rows.get(agent) ?? [];
  }

  /** Shorter neighbours are one bar; 0 if all spans are bars. */
  get shortestMs(): number {
    return this.#shortestMs;
  }

  #merge(): void {
    const least = Math.ceil((this.#to - this.#from) / this.#most);
    this.#shortestMs = Math.max(1, least, 2 * this.#shortestMs);
    this.#count = 0;
    for (const [agent, row] of this.#rows) {
      const merged: Bar[] = [];
      for (const bar of row) this.#count += put(merged, bar, this.#shortestMs);
      this.#rows.set(agent, merged);
    }
  }
}

const MOST_BARS = 3_000;

export function barOf(span: Span): Bar {
  const { kind, workflow, state, from, to, step, isPrompt, end, costUsd, isPriced } = span;
  const failed = end === 'failed' ? 1 : 0;
  const longestMs = to - from;
  // Named one by one: every step has a bar, and a spread takes ten times as long.
  return {
    kind,
    workflow,
    state,
    from,
    to,
    parts: 1,
    step,
    isPrompt: isPrompt === true,
    failed,
    costUsd,
    isPriced,
    longestMs,
  };
}

/** Adds a bar at the end of a row. Returns the number of bars by which the row has grown. */
function put(row: Bar[], bar: Bar, shortestMs: number): 0 | 1 {
  const last = row.at(-1);
  if (last === undefined || bar.to - last.from >= shortestMs) {
    row.push(bar);
    return 1;
  }
  const longer = bar.longestMs > last.longestMs ? bar : last;
  row[row.length - 1] = {
    kind: last.kind === 'work' || bar.kind === 'work' ? 'work' : longer.kind,
    workflow: longer.workflow,
    state: longer.state,
    from: last.from,
    to: bar.to,
    parts: last.parts + bar.parts,
    step: undefined,
    isPrompt: last.isPrompt || bar.isPrompt,
    failed: last.failed + bar.failed,
    costUsd: last.costUsd + bar.costUsd,
    isPriced: last.isPriced ?? bar.isPriced,
    longestMs: longer.longestMs,
  };
  return 0;
}
