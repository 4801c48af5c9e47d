/** The routes that change something. They do what the commands do, through the control. */
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { FIRST_AGENT } from '../interpret/new-run.ts';
import type { StoredRow } from '../look/run-shape.ts';
import { UserError } from '../model/user-error.ts';
import type { Answers, Asked, Reply, ServeParts } from './answers.ts';
import { badRequest } from './problems.ts';
import {
  answerRequest,
  type Pruned,
  permissionRequestBody,
  type Rewound,
  resumeRequest,
  rewindRequest,
  type Stopping,
  sayRequest,
  startRequest,
  stopRequest,
  type Tried,
  tryRequest,
} from './shapes/requests.ts';

type Acts = Pick<
  Answers['of'],
  | 'start'
  | 'resume'
  | 'stop'
  | 'answer'
  | 'keepFile'
  | 'permission'
  | 'say'
  | 'rewind'
  | 'try'
  | 'prune'
  | 'replay'
>;

/** `rowOf` throws a UserError if the run does not exist or cannot be read. `acted` is called after each act. */
export function act(
  { control, report }: Pick<ServeParts, 'control' | 'report'>,
  rowOf: (id: string) => Promise<StoredRow>,
  acted: () => void,
): Acts {
  /** An act for the run that the path names. */
  const onRun =
    <Shape extends z.ZodMiniType>(
      shape: Shape,
      carryOut: (id: string, request: z.infer<Shape>) => Promise<object>,
    ) =>
    async ({ params, body }: Asked): Promise<Reply> => {
      const { id } = await rowOf(params.id ?? '');
      const answer = { id, ...(await carryOut(id, z.parse(shape, body))) };
      acted();
      return { kind: 'body', body: answer };
    };
  return {
    async start(asked) {
      const { workflow, id: wanted, set, ...options } = z.parse(startRequest, asked.body);
      const { id, warnings } = await control.start(workflow, { ...options, ...pairs(set) }, wanted);
      acted();
      return {
        kind: 'body',
        body: { ...(await rowOf(id)), warnings },
        location: `/api/runs/${encodeURIComponent(id)}`,
      };
    },
    replay: async ({ params: { id = '' } }) => ({
      kind: 'body',
      body: { occasion: await control.replay(id) },
    }),
    resume: onRun(resumeRequest, async (id, request) => {
      const { fresh, accept_changes, trust_run, ...options } = request;
      const consent = { fresh, acceptChanges: accept_changes, trustRun: trust_run };
      const { warnings } = await control.resume(id, options, consent);
      return { ...(await rowOf(id)), warnings };
    }),
    stop: onRun(stopRequest, async (id, { now }) => {
      const begun = await control.stop(id, now ? 'now' : 'drain');
      // Only a stop that kills needs this process: it kills a process that does not react.
      const isStopped = begun.isOver || (now === true && (await isSoonOver(begun.wait(), report)));
      return { stopped: isStopped } satisfies Omit<Stopping, 'id'>;
    }),
    answer: onRun(answerRequest, async (id, { agent, text, files }) =>
      delivered(await control.answer(id, agent, text, { files })),
    ),
    async keepFile({ params, file }) {
      const { id } = await rowOf(params.id ?? '');
      if (!file) throw badRequest('The request has no file.', 'Send its content as the body.');
      return { kind: 'body', body: { id, ...(await control.keepFile(id, file)) } };
    },
    permission: onRun(permissionRequestBody, async (id, { decision, message, ...wanted }) => {
      const text = message === undefined ? {} : { text: message };
      return delivered(await control.decide(id, wanted, { decision, ...text }));
    }),
    say: onRun(sayRequest, (id, { agent, text }) => control.say(id, agent, text)),
    rewind: onRun(rewindRequest, async (id, { agent, step, undo, files }) => {
      if ((step === undefined) !== (undo === true))
        throw badRequest('The request names no step, or both a step and an undo.', 'Name one.');
      const request =
        step === undefined
          ? ({ kind: 'undo' } as const)
          : ({ kind: 'to', agent: agent ?? FIRST_AGENT, step } as const);
      const event = await control.rewind(id, request, { files: files !== false });
      return {
        agents: event.agents.map((back) => back.id),
        gone: event.gone,
        abandoned: event.abandoned,
        cost_usd: event.costUsd,
        ...(event.isPriced && { cost_is_estimate: true as const }),
        files: event.files.map(({ root }) => root),
      } satisfies Omit<Rewound, 'id'>;
    }),
    try: onRun(tryRequest, async (id, { agent, step, ...wish }) => {
      const at = { agent: agent ?? FIRST_AGENT, step };
      return (await control.tryVariants(id, { at, ...wish })) satisfies Omit<Tried, 'id'>;
    }),
    // A run that cannot be read can be removed, too.
    async prune({ params: { id = '' } }) {
      const { isRemoved, work, warnings } = await control.prune(id);
      acted();
      const told: Pruned = { id, removed: isRemoved, work, warnings };
      return { kind: 'body', body: told };
    },
  };
}

const delivered = <T extends { readonly isDelivered: boolean }>({ isDelivered, ...told }: T) => ({
  ...told,
  delivered: isDelivered,
});

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
