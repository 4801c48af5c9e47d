import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { type Remainder, remainderOf } from '../forecast/forecast.ts';
import { PastReader, type PastRun, pastRunSchema } from '../forecast/past-run.ts';
import type { PlaceReader } from '../forecast/places.ts';
import { attempt } from '../model/attempt.ts';
import { isCompleted } from '../model/condition.ts';
import type { Run } from '../model/run.ts';
import type { RunSummary } from '../model/run-summary.ts';
import type { WorkflowFiles } from '../model/workflow-files.ts';
import type { RunStore, StoredRun, SurveyedRun } from '../ports.ts';

/** The cost and time that a run still needs. `places` has read its events. */
export async function runForecast(
  store: RunStore,
  run: Run,
  places: PlaceReader,
): Promise<Remainder> {
  const pasts = await pastRuns(store, run.workflow, run.workflowFiles.get(run.workflow));
  return remainderOf(run, places.standing(run), pasts);
}

/**
 * The newest finished runs of a workflow with these files. A workflow with other files is another one.
 * Rehearsals and runs of others say nothing about cost. Each journal is read once: the cache keeps what
 * it says.
 */
export async function pastRuns(
  store: RunStore,
  workflow: string,
  files: WorkflowFiles | undefined,
): Promise<readonly PastRun[]> {
  if (!files) return [];
  const finished = (await store.survey()).filter((found) => isFinished(found, workflow));
  const newest = finished.toSorted((a, b) => b.run.startedAt - a.run.startedAt).slice(0, MOST_RUNS);
  if (newest.length === 0) return [];
  const cache = store.cache(`forecast-${sha256(workflow).slice(0, 16)}`);
  const known = readCache(await cache.read());
  const pasts: PastRun[] = [];
  let isChanged = false;
  for (const { id, run } of newest) {
    const kept = known.find((past) => past.id === id && past.seq === run.seq);
    const past = kept ?? (await pastOf(store, id));
    if (past) pasts.push(past);
    isChanged ||= past !== kept;
  }
  if (isChanged) await cache.write(JSON.stringify(pasts));
  const version = versionOf(files);
  return pasts.filter((past) => past.version === version);
}

/** Older runs say less, and the first forecast reads all of these. */
const MOST_RUNS = 50;

function isFinished(found: SurveyedRun, workflow: string): found is StoredRun<RunSummary> {
  if (found.kind === 'damaged' || !found.isOwn) return false;
  const { run } = found;
  // A variant has not come the whole way.
  return isCompleted(run) && run.workflow === workflow && !run.isRehearsal && !run.origin;
}

function readCache(text: string | undefined): readonly PastRun[] {
  if (text === undefined) return [];
  // Another version of Raymond may have written it in another form.
  return (
    z.safeParse(
      z.array(pastRunSchema),
      attempt(() => JSON.parse(text)),
    ).data ?? []
  );
}

async function pastOf(store: RunStore, id: string): Promise<PastRun | undefined> {
  const reader = new PastReader();
  const found = await store.look(id, (...seen) => reader.follow(...seen));
  return found.kind === 'stored' ? reader.past(found.run, versionOf) : undefined;
}

const versionOf = (files: WorkflowFiles) =>
  sha256(JSON.stringify(Object.entries(files).toSorted()));

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
