/**
 * What a finished run says about later runs of its workflow: visits, time and cost of each state, how
 * often each way was taken, and what followed after each place. Its size depends on the workflow, not on
 * the number of events, so that it can be kept.
 */
import * as z from 'zod/mini';
import { EDGE_ROLES } from '../graph/graph.ts';
import { OverlayReader } from '../graph/overlay.ts';
import type { RunEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import type { WorkflowFiles } from '../model/workflow-files.ts';
import { PlaceReader } from './places.ts';

const text = z.string();
const number = z.number();

export const pastRunSchema = z.object({
  id: text,
  /** The number of events from which this was computed. */
  seq: number,
  /** Stands for the files of the workflow; absent if the run used several versions or none is known. */
  version: z.optional(text),
  costUsd: number,
  /** A part of the cost was computed with a table of prices. */
  isPriced: z.boolean(),
  workedMs: number,
  /** Node, visits, time in ms, cost in USD, and whether that is an estimate. */
  nodes: z.readonly(z.array(z.readonly(z.tuple([text, number, number, number, z.boolean()])))),
  /** From, to, role, label, count. */
  ways: z.readonly(z.array(z.readonly(z.tuple([text, text, z.enum(EDGE_ROLES), text, number])))),
  /** The key of a return, as an overlay has it, and its count. */
  returns: z.readonly(z.array(z.readonly(z.tuple([text, number])))),
  /** Place, and the cost in USD and the time in ms that followed from its entry on. */
  places: z.readonly(z.array(z.readonly(z.tuple([text, number, number])))),
});

export type PastRun = z.infer<typeof pastRunSchema>;

export class PastReader {
  readonly overlay = new OverlayReader();
  readonly places = new PlaceReader();
  readonly #versions = new Map<string, WorkflowFiles>();

  follow(event: RunEvent, before: Run | undefined, after: Run): void {
    this.overlay.follow(event, before, after);
    this.places.follow(event, after);
    if (event.type === 'workflow-read' && event.workflow === after.workflow)
      this.#versions.set(JSON.stringify(Object.entries(event.files).toSorted()), event.files);
  }

  /** `versionOf` turns files into a short text. */
  past(run: Run, versionOf: (files: WorkflowFiles) => string): PastRun {
    const [files, another] = this.#versions.values();
    const { edges, returns, nodes } = this.overlay.overlay();
    return {
      id: run.id,
      seq: run.seq,
      ...(files && !another && { version: versionOf(files) }),
      costUsd: run.totalCostUsd,
      isPriced: run.isPriced,
      workedMs: run.workedMs,
      nodes: [...nodes].map(([id, { visits, timeMs, costUsd, isPriced }]) => [
        ...([id, visits, timeMs, costUsd] as const),
        isPriced === true,
      ]),
      ways: [...edges.values()].map(
        ({ from, to, role, label, count }) => [from, to, role, label, count] as const,
      ),
      returns: [...returns],
      places: [...this.places.after()].map(([place, { costUsd, timeMs }]) => [
        place,
        costUsd,
        timeMs,
      ]),
    };
  }
}
