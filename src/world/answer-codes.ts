/**
 * INV-43: An answer code is valid for one answer to one question of one run, until a time that it contains.
 *
 * One-time codes, with which a chat bot or a mail gateway that nobody trusts can bring the answer of a person.
 * A code is a time and a seal of the user's key over the run, the question, the answer and that time. So
 * nothing is stored: whoever reads the project, the journal or the database finds no code, and only a process
 * with the key can make one or recognise one. A question takes one answer, so a code is used once. A question
 * that is asked again after a rewind is another question.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RunEvent } from '../model/event.ts';
import { requestIn } from '../model/permission.ts';
import type { AskingStatus, OpenRequest, Run } from '../model/run.ts';

/** A question of a workflow, or a permission request of a step. */
export type CodedItem =
  | ({ readonly kind: 'asking'; readonly agent: string } & Pick<
      AskingStatus,
      'question' | 'askedAt' | 'deadline'
    >)
  | ({ readonly kind: 'request'; readonly agent: string; readonly step: number } & OpenRequest);

/** The answer for which a code stands; `text` leaves the words to the person. */
export type CodedAnswer = 'text' | 'allow' | 'deny';

export interface AnswerCodes {
  readonly expiresAt: number;
  readonly codes: readonly { readonly answer: CodedAnswer; readonly code: string }[];
}

/** The purpose of the key of the codes. */
export const CODE_PURPOSE = 'answer-codes';

/** The codes for what an event asks; undefined if it asks nothing, or for less than a minute. */
export function codesFor(
  key: Buffer,
  run: CodedRun,
  event: RunEvent,
  lifetimeMs: number,
): AnswerCodes | undefined {
  const item = itemIn(event);
  if (!item) return undefined;
  const deadline = item.kind === 'asking' ? item.deadline : undefined;
  const minutes = Math.floor(Math.min(item.askedAt + lifetimeMs, deadline ?? Infinity) / MINUTE);
  if (minutes * MINUTE <= item.askedAt) return undefined;
  const codes = answersOf(item).map((answer) => ({
    answer,
    code: written(minutes, sealOf(key, run, item, answer, minutes)),
  }));
  return { expiresAt: minutes * MINUTE, codes };
}

/** The run to which a code belongs. An id can be used again after its run was removed. */
export type CodedRun = Pick<Run, 'id' | 'startedAt'>;

export interface ReadCode {
  readonly expiresAt: number;
  readonly minutes: number;
  readonly seal: Buffer;
}

/** Undefined if the text cannot be a code. Spaces, hyphens and capital letters do not matter. */
export function readCode(text: string): ReadCode | undefined {
  const letters = text.replaceAll(/[\s-]/g, '').toUpperCase();
  if (letters.length !== TIME_LETTERS + SEAL_LETTERS) return undefined;
  const digits = [...letters].map((letter) => LETTERS.indexOf(ALIKE.get(letter) ?? letter));
  if (digits.includes(-1)) return undefined;
  const minutes = digits.slice(0, TIME_LETTERS).reduce((sum, digit) => sum * 32 + digit, 0);
  return { minutes, expiresAt: minutes * MINUTE, seal: Buffer.from(digits.slice(TIME_LETTERS)) };
}

/** The answer for which a code stands, if it belongs to this question of this run. */
export function answerOf(
  key: Buffer,
  { minutes, seal }: ReadCode,
  run: CodedRun,
  item: CodedItem,
): CodedAnswer | undefined {
  return answersOf(item).find((answer) =>
    timingSafeEqual(seal, sealOf(key, run, item, answer, minutes)),
  );
}

const MINUTE = 60_000;
/** Without letters that look alike. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ALIKE: ReadonlyMap<string, string> = new Map([
  ['O', '0'],
  ['I', '1'],
  ['L', '1'],
]);
/** Five letters would be enough until the year 2033. */
const TIME_LETTERS = 6;
/** 95 bits: nobody can guess it, and people can still type it. */
const SEAL_LETTERS = 19;

function itemIn(event: RunEvent): CodedItem | undefined {
  const { at: askedAt } = event;
  if (event.type === 'agent-asked') {
    const { agent, question, deadline, approval } = event;
    // Only signatures answer it.
    if (approval) return undefined;
    return { kind: 'asking', agent, question, askedAt, deadline };
  }
  if (event.type !== 'permission-asked') return undefined;
  const { agent, step } = event;
  return { kind: 'request', agent, step, ...requestIn(event), askedAt };
}

function answersOf(item: CodedItem): readonly CodedAnswer[] {
  return item.kind === 'asking' || item.isQuestion ? ['text'] : ['allow', 'deny'];
}

function sealOf(
  key: Buffer,
  { id, startedAt }: CodedRun,
  item: CodedItem,
  answer: CodedAnswer,
  minutes: number,
): Buffer {
  const { kind, agent, askedAt } = item;
  const asked =
    kind === 'asking'
      ? [item.question, item.deadline ?? null]
      : [item.step, item.request, item.tool, item.summary, item.input];
  const facts = [id, startedAt, kind, agent, askedAt, ...asked, answer, minutes];
  const sum = createHmac('sha256', key).update(JSON.stringify(facts)).digest();
  return Buffer.from([...sum.subarray(0, SEAL_LETTERS)].map((byte) => byte % LETTERS.length));
}

/** In groups of five letters. */
function written(minutes: number, seal: Buffer): string {
  const time = minutes.toString(32).padStart(TIME_LETTERS, '0');
  const digits = [...[...time].map((digit) => Number.parseInt(digit, 32)), ...seal];
  const letters = digits.map((digit) => LETTERS.charAt(digit)).join('');
  return letters.match(/.{5}/g)?.join('-') ?? letters;
}
