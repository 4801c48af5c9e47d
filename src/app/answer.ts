import { openRun } from '../host/open-run.ts';
import type { OpenItem, Question } from '../host/questions.ts';
import { reply } from '../host/reply.ts';
import { agreed, hasSigned, type Signed, textToSign } from '../model/approval.ts';
import { mostBytes } from '../model/kept-file.ts';
import type { PermissionDecision } from '../model/permission.ts';
import { UserError } from '../model/user-error.ts';
import { signaturesText } from '../observe/words.ts';
import { readDecision } from '../parse/decision.ts';
import type { RunOwner } from '../ports.ts';
import { type Approvers, approversOf, checkedSignature } from '../world/approvers.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { userName } from '../world/user-name.ts';
import { type AnswerFile, keptForAnswer } from './answer-files.ts';
import { checkOffered, openItem, type WantedItem } from './open-items.ts';
import { refuseInside } from './refuse-inside.ts';

/** Something that waits for a person. */
export interface AskedItem {
  readonly id: string;
  readonly startedAt: number;
  readonly item: OpenItem;
  /** Whoever works on the run. Otherwise the run uses the answer after a resume. */
  readonly owner: RunOwner | undefined;
  /** What the files of an answer may have together. */
  readonly mostFileBytes: number;
}

/** The question or the permission request that is meant. Throws a UserError if it is not clear. */
export async function askedItem(
  around: Surroundings,
  id: string,
  wanted: WantedItem,
): Promise<AskedItem> {
  const found = await openRun(around.store, id);
  await refuseInside(around, id, 'answer its questions');
  const { startedAt, settings } = found.run;
  const item = await openItem(around.store, found, wanted);
  return { id, startedAt, owner: found.owner, item, mostFileBytes: mostBytes(settings) };
}

/**
 * Answers with a text, and with files. The text for a permission request is a decision, such as "deny not on main". Gives the
 * decision. The mailbox keeps the answer until the run uses it.
 */
export async function answer(
  around: Surroundings,
  asked: AskedItem,
  text: string,
  files: readonly AnswerFile[] = [],
): Promise<Decided | undefined> {
  const { id, item } = asked;
  if (item.kind === 'asking' && item.approval) throw needsSignatures(id, item);
  const kept = await keptForAnswer(around, asked, files);
  if (item.kind === 'request') return decide(around, asked, readDecision(text, item));
  const { agent, askedAt } = item;
  const sent = kept.length > 0 ? { files: kept } : {};
  await reply(around.store, id, { kind: 'answer', agent, askedAt, text, ...sent });
  return undefined;
}

export interface Decided extends PermissionDecision {
  readonly agent: string;
  readonly request: string;
}

/** Decides about a permission request. Throws a UserError if the request does not offer the decision. */
export async function decide(
  { store }: Surroundings,
  { id, item }: AskedItem,
  decision: PermissionDecision | undefined,
): Promise<Decided> {
  if (item.kind !== 'request') throw new Error('Bug: a question is not a request');
  const { agent, step, request } = item;
  const decided = { ...checkOffered(id, item, decision), agent, request };
  await reply(store, id, { kind: 'permission', ...decided, step, by: userName() });
  return decided;
}

/** The text that an approver signs. Throws a UserError if the question takes no signatures. */
export function whatToSign({ id, startedAt, item }: AskedItem, text: string): string {
  const { agent } = item;
  if (item.kind === 'asking' && item.approval) {
    const { askedAt, question, approval, files } = item;
    return textToSign({ run: id, startedAt, agent, askedAt, question, approval, files }, text);
  }
  throw new UserError(
    'no-signature-needed',
    `The question of ${agent} in ${id} takes no signatures.`,
    `Answer it with a text: raymond answer ${id} "..."`,
  );
}

export interface Signing {
  readonly by: string;
  /** Whether enough people have signed this answer. */
  readonly isComplete: boolean;
  /** All who have signed, with what they signed. */
  readonly signed: readonly Signed[];
  /** Those on the list who have not signed. */
  readonly missing: readonly string[];
}

/** Gives a signed answer. Throws a UserError if the signature does not count. */
export async function approve(
  { store }: Surroundings,
  asked: AskedItem,
  text: string,
  signature: string,
): Promise<Signing> {
  const { id, item } = asked;
  const toSign = whatToSign(asked, text);
  if (item.kind !== 'asking' || !item.approval) throw new Error('Bug: nobody signs this');
  const { agent, askedAt, approval, signed = [] } = item;
  const approvers = await approversOf(approval.to);
  const checked = await checkedSignature(approvers, toSign, signature);
  const { by, key } = checked;
  if (hasSigned(signed, checked))
    throw new UserError(
      'already-signed',
      `${by} has already signed an answer to ${agent} of ${id}, with this name or this key.`,
      `Who else can sign: ${missingIn(approvers, signed).join(', ') || 'nobody'}`,
    );
  await reply(store, id, { kind: 'answer', agent, askedAt, text, signed: checked });
  const all = [...signed, { by, key, text }];
  return {
    by,
    isComplete: agreed(approval, all, text) !== undefined,
    signed: all,
    missing: missingIn(approvers, all),
  };
}

const missingIn = ({ names }: Approvers, signed: readonly Signed[]) =>
  names.filter((name) => !signed.some(({ by }) => by === name));

function needsSignatures(id: string, question: Question): UserError {
  return new UserError(
    'needs-signatures',
    `The question of ${question.agent} in ${id} ${signaturesText(question)}.`,
    `Sign an answer with your ssh key: raymond answer ${id} --sign KEY "..."`,
  );
}
