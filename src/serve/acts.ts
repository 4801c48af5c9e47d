/** The routes that change something. They do what the commands do, through the control. */
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { FIRST_AGENT } from '../interpret/new-run.ts';
import type { StoredRow } from '../look/run-shape.ts';
import { UserError } from '../model/user-error.ts';
import type { Answers, Asked, Reply, ServeParts } from './answers.ts';
import { badRequest } from './problems.ts';
import {
  type Answered,
  answerRequest,
  type Decided,
  permissionRequestBody,
  type Rewound,
  resumeRequest,
  rewindRequest,
  type Stopping,
  startRequest,
  stopRequest,
} from './shapes/requests.ts';

type Acts = Pick<Answers['of'], 'start' | 'resume' | 'stop' | 'answer' | 'permission' | 'rewind'>;

/** `rowOf` throws a UserError if the run does not exist or cannot be read. `acted` is called after each act. */
export function act(
  { control, report }: Pick<ServeParts, 'control' | 'report'>,
  rowOf: (id: string) => Promise<StoredRow>,
  acted: () => void,
): Acts {
  const done = (body: unknown): Extract<Reply, { kind: 'body' }> => {
    acted();
    return { kind: 'body', body };
  };
  return {
    async start(asked) {
      const { workflow, id: wanted, set, ...options } = z.parse(startRequest, asked.body);
      const { id, warnings } = await control.start(workflow, { ...options, ...pairs(set) }, wanted);
      return {
        ...done({ ...(await rowOf(id)), warnings }),
        location: `/api/runs/${encodeURIComponent(id)}`,
      };
    },
    async resume(asked) {
      const { id } = await rowOf(idOf(asked));
      const { fresh, accept_changes, trust_run, ...options } = z.parse(resumeRequest, asked.body);
      const consent = { fresh, acceptChanges: accept_changes, trustRun: trust_run };
      const { warnings } = await control.resume(id, options, consent);
      return done({ ...(await rowOf(id)), warnings });
    },
    async stop(asked) {
      const { id } = await rowOf(idOf(asked));
      const { now } = z.parse(stopRequest, asked.body);
      const begun = await control.stop(id, now ? 'now' : 'drain');
      // Only a stop that kills needs this process: it kills a process that does not react.
      const isStopped = begun.isOver || (now === true && (await isSoonOver(begun.wait(), report)));
      return done({ id, stopped: isStopped } satisfies Stopping);
    },
    async answer(asked) {
      const { id } = await rowOf(idOf(asked));
      const { agent: wanted, text } = z.parse(answerRequest, asked.body);
      const { agent, isDelivered } = await control.answer(id, wanted, text);
      return done({ id, agent, delivered: isDelivered } satisfies Answered);
    },
    async permission(asked) {
      const { id } = await rowOf(idOf(asked));
      const { decision, message, ...wanted } = z.parse(permissionRequestBody, asked.body);
      const text = message === undefined ? {} : { text: message };
      const { agent, request, isDelivered } = await control.decide(id, wanted, {
        decision,
        ...text,
      });
      return done({ id, agent, request, delivered: isDelivered } satisfies Decided);
    },
    async rewind(asked) {
      const { id } = await rowOf(idOf(asked));
      const { agent, step, undo, files } = z.parse(rewindRequest, asked.body);
      if ((step === undefined) !== (undo === true))
        throw badRequest('The request names no step, or both a step and an undo.', 'Name one.');
      const request =
        step === undefined
          ? ({ kind: 'undo' } as const)
          : ({ kind: 'to', agent: agent ?? FIRST_AGENT, step } as const);
      const event = await control.rewind(id, request, { files: files !== false });
      return done({
        id,
        agents: event.agents.map((back) => back.id),
        gone: event.gone,
        abandoned: event.abandoned,
        cost_usd: event.costUsd,
        ...(event.isPriced && { cost_is_estimate: true as const }),
        files: event.files.map(({ root }) => root),
      } satisfies Rewound);
    },
  };
}

const idOf = ({ params: { id = '' } }: Asked) => id;

function pairs(set: Readonly<Record<string, string>> | undefined) {
  if (set === undefined) return {};
  const wrong = Object.keys(set).find((name) => name.includes('='));
  if (wrong !== undefined)
    throw badRequest(`The variable name "${wrong}" contains "=".`, 'Use another name.');
  return { set: Object.entries(set).map(([name, value]) => `${name}=${value}`) };
}

/** The stop continues after the answer. */
async function isSoonOver(
  stopping: Promise<unknown>,
  report: ServeParts['report'],
): Promise<boolean> {
  stopping.catch((error) => {
    if (!(error instanceof UserError)) report(error);
  });
  return Promise.race([stopping.then(() => true), delay(SOON_MS, false)]);
}

const SOON_MS = 2_000;
