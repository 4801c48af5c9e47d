/** Questions that several people answer together, each with a signature: `<ask of="2" to="release">`. */
import type { Approval, Signature, Signed } from './agent-state.ts';

import type { KeptFile } from './kept-file.ts';

export type { Approval, Signature, Signed };

export interface SignedQuestion {
  readonly run: string;
  readonly startedAt: number;
  readonly agent: string;
  readonly askedAt: number;
  readonly question: string;
  readonly approval: Approval;
  /** What the people have seen with it. */
  readonly files?: readonly KeptFile[] | undefined;
}

/** The text that a person signs. It binds the run, the question and the answer, each on a line of its own. */
export function textToSign(
  { run, startedAt, agent, askedAt, question, approval, files = [] }: SignedQuestion,
  answer: string,
): string {
  const facts = [
    ...['raymond approval 1', `run ${run} ${startedAt}`],
    `agent ${quoted(agent)} ${askedAt}`,
    `to ${approval.to} ${approval.of}`,
    `question ${quoted(question)}`,
    ...files.map(({ name, sha256 }) => `file ${quoted(name)} ${sha256}`),
    `answer ${quoted(answer)}`,
  ];
  return `${facts.join('\n')}\n`;
}

/** As JSON without special characters, so that a terminal shows exactly what is signed. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[^ -~]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A person counts once, and so does a key: a list may have one key under two names. */
export function hasSigned(
  signed: readonly Signed[],
  { by, key }: Pick<Signature, 'by' | 'key'>,
): boolean {
  return signed.some((one) => one.by === by || one.key === key);
}

/** The names of those who signed an answer, if they are enough. */
export function agreed(
  { of }: Approval,
  signed: readonly Signed[],
  answer: string,
): readonly string[] | undefined {
  const names = signed.filter(({ text }) => text === answer).map(({ by }) => by);
  return names.length >= of ? names : undefined;
}

/** For rehearsals, tests and explorations, in which nobody signs. */
export function playedSignatures(approval: Approval | undefined): readonly Signature[] | undefined {
  if (!approval) return undefined;
  return Array.from({ length: approval.of }, (_, index) => {
    const by = `approver ${index + 1}`;
    return { by, key: by, signature: '' };
  });
}
