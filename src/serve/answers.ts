/** The answers of all routes. This file does not know HTTP. */

import type { RunControl } from '../app/for-programs.ts';
import { lastMoment, standing } from '../app/look.ts';
import { forecastOf, remainderOf } from '../forecast/forecast.ts';
import type { PastRun } from '../forecast/past-run.ts';
import { iso, rowForm, storedRowForm, wholeForm } from '../look/run-form.ts';
import type { WholeRun } from '../look/run-shape.ts';
import { summaryOf } from '../model/run-summary.ts';
import { UserError } from '../model/user-error.ts';
import type { WorkflowFiles } from '../model/workflow-files.ts';
import type { AlarmsOf } from '../observe/describe.ts';
import type { RunStore, StepReader } from '../ports.ts';
import { act } from './acts.ts';
import type { FollowedRun } from './followed-run.ts';
import { FollowedRuns, type FoundRun } from './followed-runs.ts';
import { Graphs } from './graphs.ts';
import { openApi } from './openapi.ts';
import { Overview } from './overview.ts';
import { badRequest, errorBodyOf } from './problems.ts';
import type { Projects } from './projects.ts';
import { OpenQuestions } from './questions.ts';
import type { RouteName } from './routes.ts';
import { type ChangingRun, changes } from './run-changes.ts';
import { runEvents } from './run-events.ts';
import type { RunForecast } from './shapes/forecast.ts';
import { type EventSource, kept } from './sse.ts';
import { stateOf } from './states.ts';
import { liveStep, stepsAfter, wholeStep } from './steps.ts';
import { listedWorkflow, type WorkflowParts, workflowList } from './workflows.ts';

export interface ServeParts extends WorkflowParts {
  /** The folder of the project. */
  readonly project: string;
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
  readonly alarmsOf: AlarmsOf;
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
  /** The body, if it is a file. */
  readonly file?: AsyncIterable<Uint8Array> | undefined;
}

export type Reply =
  | { readonly kind: 'body'; readonly body: unknown; readonly location?: string }
  | {
      readonly kind: 'file';
      readonly content: Uint8Array;
      readonly name: string;
      readonly type: string;
    }
  | { readonly kind: 'stream'; readonly source: EventSource };

export interface Answers {
  readonly of: Readonly<Record<RouteName, (asked: Asked) => Promise<Reply>>>;
  close(): void;
}

export function answersFor(
  parts: ServeParts,
  projects: Pick<Projects, 'view' | 'onChange'>,
): Answers {
  const { store, control, steps, now } = parts;
  const runs = new FollowedRuns(store);
  const graphs = new Graphs(parts.workflow);
  const questions = new OpenQuestions(store);
  const overview = new Overview({
    ...{ project: parts.project, list: control.list, news: store.news, questions, now },
  });
  const acts = act(
    parts,
    async (id) => {
      const found = await runs.look(id);
      return storedRowForm({ ...found, run: summaryOf(found.run) });
    },
    () => overview.look(),
  );
  const runOf = ({ params: { id = '' } }: Asked) => runs.find(id);
  const timeOf = ({ found: { owner }, followed: { run } }: FoundRun) =>
    lastMoment({ owner, run }, now());
  const formOf = ({ found, followed }: FoundRun, { owner, ...beside }: Besides): WholeRun => {
    const { run, history, bars } = followed;
    const current = { ...found, run, owner };
    const at = timeOf({ found: current, followed });
    return wholeForm({ found: current, history, bars, ...beside, at });
  };
  const changingRun = async (id: string): Promise<ChangingRun> => {
    const { found, followed } = await runs.find(id);
    let beside = await standing(store, followed.run);
    // The run itself does not change hands: only what is no event is looked for again.
    const current = () => ({ found: { ...found, owner: beside.owner }, followed });
    return {
      ...{ id, followed, alarmsOf: parts.alarmsOf },
      news: (signal) => store.news(id, signal),
      key: async () => {
        beside = await standing(store, followed.run);
        return JSON.stringify(beside);
      },
      parts: {
        run: async () => formOf(current(), beside),
        graph: () => graphs.of(id, followed, timeOf(current())).catch(problemIn),
        forecast: () => forecast(followed),
      },
    };
  };
  const forecast = async ({ run, places }: FollowedRun): Promise<RunForecast> => {
    const pasts = await parts.pasts(run.workflow, run.workflowFiles.get(run.workflow));
    const rest = run.agents.size === 0 ? null : remainderOf(run, places.standing(run), pasts);
    return { ...forecastOf(pasts), rest };
  };
  return {
    of: {
      openapi: async () => body(openApi(parts.version)),
      runs: async ({ query }) => {
        const { runs } = await control.list({ status: query.status });
        return body({ runs: runs.toReversed().map(rowForm) });
      },
      run: async (asked) => {
        const found = await runOf(asked);
        return body(formOf(found, await standing(store, found.followed.run)));
      },
      changes: async ({ query: { run } }) => {
        const find = run === undefined ? undefined : () => changingRun(run);
        return stream((signal) => changes({ overview, projects, find, now }, signal));
      },
      events: async (asked) => {
        const after = positionOf(asked);
        const { found, followed } = await runOf(asked);
        if (after > followed.run.seq) throw aheadOfRun(after, followed.run.seq);
        const { id } = found;
        return stream((signal) => runEvents({ store, id, followed, after }, signal));
      },
      steps: async (asked) => {
        const { followed } = await runOf(asked);
        return body(stepsAfter(followed, asked.params.agent ?? '', positionOf(asked)));
      },
      step: async (asked) => body(await wholeStep(await runOf(asked), keyOf(asked), steps)),
      context: async (asked) => {
        const { found } = await runOf(asked);
        return body(await control.context(found.id, keyOf(asked)));
      },
      live: async (asked) => {
        const found = await runOf(asked);
        const after = cursorOf(asked);
        return stream(liveStep(found, keyOf(asked), { steps, after }));
      },
      state: async (asked) =>
        body(await stateOf((await runOf(asked)).followed, parts.workflow, asked.query)),
      graph: async (asked) => {
        const { found, followed } = await runOf(asked);
        return body(await graphs.of(found.id, followed, timeOf({ found, followed })));
      },
      diff: async ({ params: { id = '' }, query: { agent, step } }) => {
        await runs.look(id);
        const wanted = step === undefined ? undefined : stepOf(step);
        if (wanted !== undefined && agent === undefined)
          throw badRequest('The request names a step without its agent.', 'Add agent=main.');
        return body(await control.diff(id, { agent, step: wanted }));
      },
      forecast: async (asked) => {
        return body(await forecast((await runOf(asked)).followed));
      },
      workflows: async () => body(await workflowList(parts)),
      usual: async ({ query: { workflow = '' } }) => {
        const { ref, files } = await listedWorkflow(parts, workflow);
        return body(forecastOf(await parts.pasts(ref, files)));
      },
      variants: async ({ params: { id = '' } }) => body(await control.variants(id)),
      bound: async ({ query: { workflow = '', turn } }) => {
        const price = turn === undefined ? undefined : Number(turn);
        if (price !== undefined && !(price >= 0))
          throw badRequest(`The price of a prompt is "${turn}".`, 'Write dollars, such as 0.50.');
        return body(await control.bound(workflow, { turn: price }));
      },
      files: async ({ params: { id = '' } }) => {
        await runs.look(id);
        const files = (await control.files(id)).map((one) => ({ ...one, at: iso(one.at) }));
        return body({ files });
      },
      file: async ({ params: { id = '', sha256 = '' } }) => {
        await runs.look(id);
        const { name, content, image, text } = await control.file(id, sha256);
        const other = text === undefined ? 'application/octet-stream' : 'text/plain; charset=utf-8';
        return { kind: 'file', name, content, type: image ?? other };
      },
      triggers: async () => body(await control.triggers()),
      questions: async () => body(await questions.in((await control.list()).runs)),
      ...acts,
    },
    close: () => runs.close(),
  };
}

type Besides = Awaited<ReturnType<typeof standing>>;

function problemIn(error: unknown) {
  if (error instanceof UserError) return errorBodyOf(error).error;
  throw error;
}

export const body = (value: unknown): Reply => ({ kind: 'body', body: value });
const stream = (source: EventSource): Reply => ({
  kind: 'stream',
  source: (signal) => kept(source(signal)),
});

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

const keyOf = ({ params: { agent = '', n = '' } }: Asked) => ({ agent, step: stepOf(n) });

function stepOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw badRequest('The step is not a number.', 'Steps count from 1.');
}
