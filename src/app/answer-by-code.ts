import * as z from 'zod/mini';
import { openRun } from '../host/open-run.ts';
import { type OpenItem, openItems } from '../host/questions.ts';
import { answeredAlready, reply } from '../host/reply.ts';
import { waitsForPerson } from '../model/tally.ts';
import { UserError } from '../model/user-error.ts';
import { time } from '../observe/words.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import {
  answerOf,
  CODE_PURPOSE,
  type CodedAnswer,
  type ReadCode,
  readCode,
} from '../world/answer-codes.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { countWrongCode, refuseGuessing } from '../world/wrong-codes.ts';
import { allRuns } from './find-run.ts';
import { inEveryPlace } from './inbox.ts';
import { refuseInside } from './refuse-inside.ts';

export interface GivenCode {
  readonly code: string;
  /** The words of the person, if the code leaves them open. */
  readonly text?: string | undefined;
}

export interface CodeUsed {
  readonly run: string;
  /** The directory of the project; undefined for a run in a database. */
  readonly project: string | undefined;
  readonly agent: string;
  readonly answer: CodedAnswer;
  /** Whether somebody works on the run. Otherwise it uses the answer after a resume. */
  readonly isCarried: boolean;
}

/** Answers the question for which a code of a notification stands, in whichever project it was asked. */
export async function answerByCode(around: Surroundings, given: GivenCode): Promise<CodeUsed> {
  const now = around.clock.now();
  await refuseGuessing(now);
  const code = readCode(given.code);
  const key = await around.key.derivedIfKnown(CODE_PURPOSE);
  const used = code && key && (await useCode(around, key, code, given.text));
  if (used) return used;
  await countWrongCode(now);
  throw new UserError(
    'wrong-code',
    'This code answers no open question of yours.',
    'It may be mistyped, or its question was answered or withdrawn. To see what waits: raymond inbox',
  );
}

/** Answers with the payload of a delivery whose signature was checked: `{code, text?}`. Throws a UserError. */
export function answerFromDelivery(around: Surroundings, payload: unknown): Promise<CodeUsed> {
  const { data } = z.safeParse(deliverySchema, payload);
  if (!data)
    throw wrongUsage(
      'The delivery is not an answer.',
      'Send {"code": "..."}, with "text" for a question, of at most 64 KiB.',
    );
  return answerByCode(around, data);
}

const deliverySchema = z.strictObject({
  code: z.string().check(z.maxLength(100)),
  text: z.optional(z.string().check(z.maxLength(64 * 1024))),
});

async function useCode(
  around: Surroundings,
  key: Buffer,
  code: ReadCode,
  text: string | undefined,
): Promise<CodeUsed | undefined> {
  let outcome: PromiseSettledResult<CodeUsed> | undefined;
  await inEveryPlace(around, async ({ place, project }) => {
    if (outcome) return;
    const found = await askedWith(place, key, code);
    // Its refusal must reach the person: it says nothing about the project.
    if (found) [outcome] = await Promise.allSettled([give(place, project, code, found, text)]);
  });
  if (outcome?.status === 'rejected') throw outcome.reason;
  return outcome?.value;
}

interface Found {
  readonly run: string;
  readonly item: OpenItem;
  readonly answer: CodedAnswer;
  readonly isCarried: boolean;
}

/** What is asked with this code. Only the user's own runs count. */
async function askedWith(
  { store }: Surroundings,
  key: Buffer,
  code: ReadCode,
): Promise<Found | undefined> {
  for (const found of await allRuns(store)) {
    if (found.kind === 'damaged' || !found.isOwn || waitsForPerson(found.run.tally) === 0) continue;
    const { run, owner } = await openRun(store, found.id);
    for (const item of await openItems(store, run)) {
      const answer = answerOf(key, code, run, item);
      if (answer) return { run: run.id, item, answer, isCarried: owner !== undefined };
    }
  }
  return undefined;
}

async function give(
  place: Surroundings,
  project: string | undefined,
  { expiresAt }: ReadCode,
  { run, item, answer, isCarried }: Found,
  text: string | undefined,
): Promise<CodeUsed> {
  const { agent } = item;
  const now = place.clock.now();
  if (expiresAt <= now)
    throw new UserError(
      'expired-code',
      `This code expired at ${time(expiresAt, now)}.`,
      `Answer without a code: raymond answer ${run}`,
    );
  if (item.isAnswered) throw answeredAlready(run, agent);
  await refuseInside(place, run, 'answer its questions');
  if (answer === 'text' && text === undefined)
    throw wrongUsage('This code needs a text.', 'Write the answer after the code.');
  if (answer !== 'text' && text !== undefined)
    throw wrongUsage(`This code stands for ${answer} and takes no text.`, 'Leave out the text.');
  const by = 'code';
  if (item.kind === 'asking') {
    const { askedAt } = item;
    await reply(place.store, run, { kind: 'answer', agent, askedAt, text: text ?? '', by });
  } else {
    const { step, request } = item;
    const decision =
      answer === 'text' ? { decision: 'answer' as const, text } : { decision: answer };
    await reply(place.store, run, { kind: 'permission', agent, step, request, ...decision, by });
  }
  return { run, project, agent, answer, isCarried };
}
