/**
 * All routes of the API. The router is made from this table, and so is the OpenAPI document: a route
 * that is not here does not exist.
 */
import * as z from 'zod/mini';
import { errorBody, text } from '../look/common.ts';
import { contextShape } from '../look/context-form.ts';
import { diffShape } from '../look/diff-shape.ts';
import { launchedRow, runList, wholeRun } from '../look/run-shape.ts';
import { stateShape } from '../look/state-shape.ts';
import { stepList } from '../look/step-list.ts';
import { messageBatch, stepOutcome, stepShape } from '../look/step-shape.ts';
import { replayed, triggerList } from '../look/trigger-shape.ts';
import { variantsShape } from '../look/variant-shape.ts';
import { workflowBound } from './shapes/bound.ts';
import { changeList, logLine } from './shapes/changes.ts';
import { eventBatch, heartbeat, partialText } from './shapes/events.ts';
import { runForecast } from './shapes/forecast.ts';
import { graphShape } from './shapes/graph.ts';
import { questionList } from './shapes/questions.ts';
import {
  answered,
  answerRequest,
  decided,
  fileList,
  keptFile,
  permissionRequestBody,
  pruned,
  pruneRequest,
  replayRequest,
  resumeRequest,
  rewindRequest,
  rewound,
  said,
  sayRequest,
  startRequest,
  stopping,
  stopRequest,
  tried,
  tryRequest,
} from './shapes/requests.ts';
import { workflowForecast, workflowList } from './shapes/workflows.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Parameters begin with a colon. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: z.ZodMiniType;
  /** The body is a file. */
  readonly takesFile?: true;
  readonly answer: Answer;
}

export type Answer =
  | { readonly kind: 'json'; readonly status: number; readonly shape: z.ZodMiniType }
  | { readonly kind: 'file' }
  /** Server-sent events, by name. An event without a name is `message`. */
  | { readonly kind: 'stream'; readonly events: Readonly<Record<string, z.ZodMiniType>> };

const json = (shape: z.ZodMiniType, status = 200): Answer => ({ kind: 'json', status, shape });

export const ROUTES = {
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This document',
    answer: json(z.record(text, z.unknown())),
  },
  runs: {
    method: 'GET',
    path: '/api/runs',
    summary: 'All runs, the newest first',
    query: { status: 'Only runs with one of these statuses, separated by commas.' },
    answer: json(runList),
  },
  start: {
    method: 'POST',
    path: '/api/runs',
    summary: 'Start a workflow of the project',
    description:
      'Starts a background process, as `raymond --detach`. The run continues when the server ends.',
    body: startRequest,
    answer: json(launchedRow, 201),
  },
  run: {
    method: 'GET',
    path: '/api/runs/:id',
    summary: 'A run with its agents, states and timeline',
    description: 'To follow it, read its events after `position`.',
    answer: json(wholeRun),
  },
  events: {
    method: 'GET',
    path: '/api/runs/:id/events',
    summary: 'The events of a run, and then each new one',
    description: [
      'Server-sent events. The data of an event without a name is an array of up to 500 events of the journal. Its id is the sequence number of the last one. The header `Last-Event-ID` continues after it, and wins over `after`.',
      '`heartbeat` is sent when nothing else has been for a while. `gone` ends the stream: the run cannot be read any more.',
    ].join('\n\n'),
    query: { after: 'Only events after this sequence number.' },
    answer: {
      kind: 'stream',
      events: {
        message: eventBatch,
        heartbeat,
        gone: errorBody,
      },
    },
  },
  changes: {
    method: 'GET',
    path: '/api/changes',
    summary:
      'All runs and everything that waits for a person as one value, and then each change of it',
    description: [
      'Server-sent events. The value is `{project, runs, questions, permissions}`; `runs` is an object with a row for each id. With `run`, the value also has `{run, graph, forecast}`, as the routes of these names answer; a `graph` that cannot be drawn is an error. The value is empty at first. Each `change` is an array of changes of it, so a client that connects again begins with an empty value.',
      '`lines` has the lines of `raymond logs` for new events of the run, at first of the newest 300. A line of its own says how many events are left out. `gone` says that this run cannot be read; the rest of the value continues to change. `trouble` says that no run can be read now, and the next `change` ends it. `heartbeat` is as in the stream of events.',
    ].join('\n\n'),
    query: { run: 'The run to follow, too.' },
    answer: {
      kind: 'stream',
      events: {
        change: changeList,
        lines: z.array(logLine),
        trouble: errorBody,
        heartbeat,
        gone: errorBody,
      },
    },
  },
  steps: {
    method: 'GET',
    path: '/api/runs/:id/steps/:agent',
    summary: 'The steps of an agent, without what they said',
    query: { after: 'Only steps after this one.' },
    answer: json(stepList),
  },
  step: {
    method: 'GET',
    path: '/api/runs/:id/steps/:agent/:n',
    summary: 'The prompt, messages, tool calls and outcome of a step',
    answer: json(stepShape),
  },
  context: {
    method: 'GET',
    path: '/api/runs/:id/steps/:agent/:n/context',
    summary: 'What the model saw at the end of a step, in tokens by kind and by step',
    description: 'As `raymond show --context`. A script saw nothing: 404.',
    answer: json(contextShape),
  },
  live: {
    method: 'GET',
    path: '/api/runs/:id/steps/:agent/:n/live',
    summary: 'The messages of a step while it runs',
    description: [
      'Server-sent events. The data of an event without a name is an array of messages. The header `Last-Event-ID` continues after the id of an event, and so does `after`.',
      '`partial` is the text that the agent is writing now; a message replaces it. `outcome` ends the stream. `gone` ends it without an outcome.',
    ].join('\n\n'),
    query: { after: 'Only messages after the event with this id.' },
    answer: {
      kind: 'stream',
      events: {
        message: messageBatch,
        partial: partialText,
        outcome: stepOutcome,
        heartbeat,
        gone: errorBody,
      },
    },
  },
  diff: {
    method: 'GET',
    path: '/api/runs/:id/changes',
    summary: 'The files that the run, an agent or a step has changed',
    description:
      'As `raymond diff`. Large files and files that are no text are named without their content.',
    query: { agent: 'Only its changes.', step: 'Only this step of the agent.' },
    answer: json(diffShape),
  },
  state: {
    method: 'GET',
    path: '/api/runs/:id/state',
    summary: 'The text of a state, and the newest steps in it',
    query: { state: 'Its file name.', workflow: 'Its workflow, if it is not that of the run.' },
    answer: json(stateShape),
  },
  graph: {
    method: 'GET',
    path: '/api/runs/:id/graph',
    summary: 'The graph of the workflow, with visits, time and cost',
    answer: json(graphShape),
  },
  forecast: {
    method: 'GET',
    path: '/api/runs/:id/forecast',
    summary: 'The usual cost and time, from completed runs of the workflow with the same files',
    description: '`rest` says what the run itself still needs; null if it is over.',
    answer: json(runForecast),
  },
  workflows: {
    method: 'GET',
    path: '/api/workflows',
    summary: 'The workflows of the project',
    description: 'Those that are at most three folders deep. Others can be started by their paths.',
    answer: json(workflowList),
  },
  usual: {
    method: 'GET',
    path: '/api/forecast',
    summary: 'The usual cost and time of a workflow, from completed runs with its present files',
    query: { workflow: 'A path of `/api/workflows`.' },
    answer: json(workflowForecast),
  },
  bound: {
    method: 'GET',
    path: '/api/bound',
    summary: 'The most that a run of a workflow can use',
    description:
      'As `raymond bound --json`. `text` is a sentence with the figures. A start with more than `confirm_above` of the configuration is refused with the code `costly-start`, unless the request sets another amount.',
    query: {
      workflow: 'The path of a workflow inside the project.',
      turn: 'The price of a prompt in US dollars. Otherwise finished runs say what each state costs.',
    },
    answer: json(workflowBound),
  },
  triggers: {
    method: 'GET',
    path: '/api/triggers',
    summary: 'What starts runs without a person, when it is due, and what became of it',
    description: 'As `raymond triggers`, with the newest occasions.',
    answer: json(triggerList),
  },
  questions: {
    method: 'GET',
    path: '/api/questions',
    summary: 'Everything that waits for a person, in all runs',
    answer: json(questionList),
  },
  say: {
    method: 'POST',
    path: '/api/runs/:id/say',
    summary: 'Say something to an agent while it works',
    description: 'As `raymond say`.',
    body: sayRequest,
    answer: json(said, 202),
  },
  stop: {
    method: 'POST',
    path: '/api/runs/:id/stop',
    summary: 'Stop a run',
    description: 'As `raymond stop`, but it does not wait until running steps have finished.',
    body: stopRequest,
    answer: json(stopping, 202),
  },
  resume: {
    method: 'POST',
    path: '/api/runs/:id/resume',
    summary: 'Continue a run in a background process',
    body: resumeRequest,
    answer: json(launchedRow),
  },
  answer: {
    method: 'POST',
    path: '/api/runs/:id/answer',
    summary: 'Answer a question',
    body: answerRequest,
    answer: json(answered),
  },
  keepFile: {
    method: 'POST',
    path: '/api/runs/:id/files',
    summary: 'Store a file for an answer',
    description:
      'The body is the content. The answer then names the file by the hash. Refused if no agent of the run has a question, and if the file is larger than `most_file_bytes` of the question.',
    takesFile: true,
    answer: json(keptFile, 201),
  },
  files: {
    method: 'GET',
    path: '/api/runs/:id/files',
    summary: 'The files of the questions and answers of a run',
    answer: json(fileList),
  },
  file: {
    method: 'GET',
    path: '/api/runs/:id/files/:sha256',
    summary: 'One of these files',
    description:
      'Its type is that of a picture (PNG, JPEG, GIF, WebP) or `text/plain`, if its content is one. Everything else is `application/octet-stream`. It is always an attachment.',
    answer: { kind: 'file' },
  },
  permission: {
    method: 'POST',
    path: '/api/runs/:id/permission',
    summary: 'Decide about a tool call that the agent may not make by itself',
    body: permissionRequestBody,
    answer: json(decided),
  },
  rewind: {
    method: 'POST',
    path: '/api/runs/:id/rewind',
    summary: 'Take a run back to the moment before a step',
    description: 'As `raymond rewind --yes`. Refused while a process works on the run.',
    body: rewindRequest,
    answer: json(rewound),
  },
  variants: {
    method: 'GET',
    path: '/api/runs/:id/variants',
    summary: 'The variants of a run, side by side',
    description: 'As `raymond try` without a step.',
    answer: json(variantsShape),
  },
  try: {
    method: 'POST',
    path: '/api/runs/:id/try',
    summary: 'Try variants of a run from before a step',
    description:
      'As `raymond try --detach`: all variants begin at once, so a request may have at most 16. The same request again continues the variants that were interrupted.',
    body: tryRequest,
    answer: json(tried, 201),
  },
  prune: {
    method: 'POST',
    path: '/api/runs/:id/prune',
    summary: 'Remove a run',
    description:
      'As `raymond prune` with the name of the run. Refused while a process works on it. A run is kept if its folder has work that exists nowhere else.',
    body: pruneRequest,
    answer: json(pruned),
  },
  replay: {
    method: 'POST',
    path: '/api/occasions/:id/replay',
    summary: 'Let a delivery of a webhook happen again',
    description:
      'As `raymond triggers --replay`. A new occasion with the same payload, which names the old one. Its run starts while `raymond up` keeps the project.',
    body: replayRequest,
    answer: json(replayed, 202),
  },
} as const satisfies Readonly<Record<string, Route>>;

export type RouteName = keyof typeof ROUTES;
