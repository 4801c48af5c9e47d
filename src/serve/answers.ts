/** The answers of all routes. This file does not know HTTP. */

import { forecastOf, remainderOf } from '../forecast/forecast.ts';
import type { PastRun } from '../forecast/past-run.ts';
import { allRuns } from '../look/all-runs.ts';
import { rowForm, storedRowForm, wholeForm } from '../look/run-form.ts';
import { CONDITIONS } from '../model/condition.ts';
import { summaryOf } from '../model/run-summary.ts';
import type { WorkflowFiles } from '../model/workflow-files.ts';
import type { RunControl, RunStore, StepReader } from '../ports.ts';
import { act } from './acts.ts';
import { FollowedRuns, type FoundRun } from './followed-runs.ts';
import { Graphs } from './graphs.ts';
import { openApi } from './openapi.ts';
import { badRequest } from './problems.ts';
import { OpenQuestions } from './questions.ts';
import type { RouteName } from './routes.ts';
import { runEvents } from './run-events.ts';
import type { RunForecast } from './shapes/forecast.ts';
import type { EventSource } from './sse.ts';
import { liveStep, wholeStep } from './steps.ts';
import { listedWorkflow, type WorkflowParts, workflowList } from './workflows.ts';

export interface ServeParts extends WorkflowParts {
  readonly store: RunStore;
  readonly control: RunControl;
  readonly steps: StepReader;
  /** The figures of completed runs of a workflow with these files. */
  readonly pasts: (
    workflow: string,
    files: WorkflowFiles | undefined,
  ) => Promise<readonly PastRun[]>;
  /** A file of the page; undefined if it does not exist. */
  readonly page: (file: string) => Promise<string | undefined>;
  readonly now: () => number;
  readonly version: string;
  /** Receives errors that are not the caller's. */
  readonly report: (error: unknown) => void;
}

export interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** It has passed the schema of the route. */
  readonly body: unknown;
  readonly lastEventId: string | undefined;
}

export type Reply =
  | { readonly kind: 'body'; readonly body: unknown; readonly location?: string }
  | { readonly kind: 'stream'; readonly source: EventSource };

export interface Answers {
  readonly of: Readonly<Record<RouteName, (asked: Asked) => Promise<Reply>>>;
  close(): void;
}

export function answersFor(parts: ServeParts): Answers {
  const { store, control, steps, now } = parts;
  const runs = new FollowedRuns(store);
  const graphs = new Graphs(parts.workflow);
  const questions = new OpenQuestions(store, control);
  const acts = act(parts, async (id) => {
    const found = await runs.look(id);
    return storedRowForm({ ...found, run: summaryOf(found.run) });
  });
  const runOf = ({ params: { id = '' } }: Asked) => runs.find(id);
  /** Up to when open steps count: without a process, nothing has happened since the newest event. */
  const timeOf = ({ found, followed }: FoundRun) =>
    found.owner ? Math.max(now(), followed.run.updatedAt) : followed.run.updatedAt;
  return {
    of: {
      openapi: async () => body(openApi(parts.version)),
      runs: async ({ query }) => {
        const isWanted = statusFilter(query.status);
        const runs = await allRuns(store);
        const rows = runs.toReversed().map(rowForm);
        return body({ runs: rows.filter(({ status }) => isWanted(status)) });
      },
      run: async (request) => {
        const { found, followed } = await runOf(request);
        const [asked, requests, doing] = await Promise.all([
          control.questions(followed.run),
          control.requests(followed.run),
          found.owner && store.now(found.id),
        ]);
        const at = timeOf({ found, followed });
        const { run, history, bars } = followed;
        return body(
          wholeForm({
            ...{ found: { ...found, run }, history, bars },
            ...{ questions: asked, requests, now: doing, at },
          }),
        );
      },
      events: async (asked) => {
        const after = positionOf(asked);
        const { found, followed } = await runOf(asked);
        if (after > followed.run.seq) throw aheadOfRun(after, followed.run.seq);
        const { id } = found;
        return stream((signal) => runEvents({ store, id, followed, after, now }, signal));
      },
      step: async (asked) => body(await wholeStep(await runOf(asked), keyOf(asked), steps)),
      live: async (asked) => {
        const found = await runOf(asked);
        const after = cursorOf(asked);
        return stream(liveStep(found, keyOf(asked), { steps, after, now }));
      },
      graph: async (asked) => {
        const { found, followed } = await runOf(asked);
        return body(await graphs.of(found.id, followed, timeOf({ found, followed })));
      },
      forecast: async (asked) => {
        const { run, places } = (await runOf(asked)).followed;
        const pasts = await parts.pasts(run.workflow, run.workflowFiles.get(run.workflow));
        const rest = run.agents.size === 0 ? null : remainderOf(run, places.standing(run), pasts);
        return body({ ...forecastOf(pasts), rest } satisfies RunForecast);
      },
      workflows: async () => body(await workflowList(parts)),
      usual: async ({ query: { workflow = '' } }) => {
        const { ref, files } = await listedWorkflow(parts, workflow);
        return body(forecastOf(await parts.pasts(ref, files)));
      },
      questions: async () => body(await questions.list()),
      ...acts,
    },
    close: () => runs.close(),
  };
}

export const body = (value: unknown): Reply => ({ kind: 'body', body: value });
const stream = (source: EventSource): Reply => ({ kind: 'stream', source });

function statusFilter(wanted: string | undefined): (status: string) => boolean {
  if (wanted === undefined) return () => true;
  const known: readonly string[] = CONDITIONS;
  const words = wanted.split(',').map((word) => word.trim());
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined)
    throw badRequest(
      `No run can have the status "${unknown}".`,
      `Name one of ${known.join(', ')}.`,
    );
  return (status) => words.includes(status);
}

/** A reconnecting client knows better than the address that it began with. */
function positionOf({ query, lastEventId }: Asked): number {
  const text = lastEventId || query.after || '0';
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw badRequest(
    'The position is not a sequence number.',
    'Write after=0, or a number from an event.',
  );
}

function cursorOf({ query, lastEventId }: Asked): string | undefined {
  const text = lastEventId || query.after;
  if (text === undefined || /^\d{1,15}$/.test(text)) return text;
  throw badRequest(
    'The position is not the id of an event.',
    'Omit it, or use the id of an event.',
  );
}

function aheadOfRun(after: number, seq: number) {
  return badRequest(
    `The run has ${seq} events, so none is after ${after}.`,
    'Read the run again, and follow it from its position.',
  );
}

function keyOf({ params: { agent = '', n = '' } }: Asked) {
  if (!/^[1-9]\d{0,8}$/.test(n))
    throw badRequest('The step is not a number.', 'Steps count from 1.');
  return { agent, step: Number(n) };
}
