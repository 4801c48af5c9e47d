/** The routes that change something. They do what the commands do, through the control. */
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { UserError } from '../model/user-error.ts';
import type { GivenOptions } from '../ports.ts';
import type { Answers, Asked, Reply, ServeParts } from './answers.ts';
import { badRequest } from './problems.ts';
import {
  type Answered,
  answerRequest,
  resumeRequest,
  type Stopping,
  startRequest,
  stopRequest,
} from './shapes/requests.ts';
import type { StoredRow } from './shapes/run-row.ts';

type Acts = Pick<Answers['of'], 'start' | 'resume' | 'stop' | 'answer'>;

/** `rowOf` throws a UserError if the run does not exist or cannot be read. */
export function act(
  { control, report }: Pick<ServeParts, 'control' | 'report'>,
  rowOf: (id: string) => Promise<StoredRow>,
): Acts {
  return {
    async start(asked) {
      const { workflow, id: wanted, set, ...options } = z.parse(startRequest, asked.body);
      const id = await control.start(workflow, { ...options, ...pairs(set) }, wanted);
      const row = await rowOf(id);
      return { ...done(row), location: `/api/runs/${encodeURIComponent(id)}` };
    },
    async resume(asked) {
      const { id } = await rowOf(idOf(asked));
      const { fresh, accept_changes, trust_run, ...options } = z.parse(resumeRequest, asked.body);
      await control.resume(id, options, {
        ...{ fresh, acceptChanges: accept_changes, trustRun: trust_run },
      });
      return done(await rowOf(id));
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
  };
}

const idOf = ({ params: { id = '' } }: Asked) => id;
const done = (body: unknown): Extract<Reply, { kind: 'body' }> => ({ kind: 'body', body });

function pairs(set: Readonly<Record<string, string>> | undefined): GivenOptions {
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
