/** Finds the question or the permission request that a person means. */

import { openRun } from '../host/open-run.ts';
import { type OpenItem, openItems, type Request } from '../host/questions.ts';
import { answeredAlready } from '../host/reply.ts';
import { allRuns } from '../look/all-runs.ts';
import { isOffered, type PermissionDecision } from '../model/permission.ts';
import type { RunSummary } from '../model/run-summary.ts';
import { waitsForPerson } from '../model/tally.ts';
import { UserError } from '../model/user-error.ts';
import { callText, choicesText, oneLine, shortRequest } from '../observe/words.ts';
import type { RunStore, StoredRun } from '../ports.ts';

export interface WantedItem {
  readonly agent?: string | undefined;
  /** The id of a permission request, or its beginning. */
  readonly request?: string | undefined;
  /** `text`: only what is answered with a text. `decision`: only what needs a decision. */
  readonly by?: 'text' | 'decision';
}

/** The one open item that fits. Throws a UserError if there is none, or if several fit. */
export async function openItem(
  store: RunStore,
  { id, run }: StoredRun,
  wanted: WantedItem,
): Promise<OpenItem> {
  const fitting = (await openItems(store, run)).filter((item) => isWanted(item, wanted));
  const [first, ...others] = fitting.filter(({ isAnswered }) => !isAnswered);
  if (first && others.length > 0) {
    // A decision that was just taken is neither in the inbox nor in a run that was read before.
    const now = await openRun(store, id);
    if (now.run.seq !== run.seq) return openItem(store, now, wanted);
    throw severalItems(id, [first, ...others]);
  }
  if (first) return first;
  const [answered] = fitting;
  if (answered) throw answeredAlready(id, answered.agent);
  throw noItem(id, wanted);
}

/** The user's own runs that wait for a person, and what they ask. Other runs must be named. */
export async function waitingRuns(store: RunStore): Promise<readonly WaitingRun[]> {
  const waiting: WaitingRun[] = [];
  for (const found of await allRuns(store)) {
    if (found.kind === 'damaged' || !found.isOwn || waitsForPerson(found.run.tally) === 0) continue;
    const open = await openItems(store, (await openRun(store, found.id)).run);
    const items = open.filter(({ isAnswered }) => !isAnswered);
    if (items.length > 0) waiting.push({ ...found, items });
  }
  return waiting;
}

export interface WaitingRun extends StoredRun<RunSummary> {
  /** What has no answer yet. */
  readonly items: readonly OpenItem[];
}

/** Throws a UserError if the request does not offer the decision. */
export function checkOffered(
  id: string,
  request: Request,
  decision: PermissionDecision | undefined,
): PermissionDecision {
  if (decision && isOffered(request, decision.decision)) return decision;
  throw new UserError(
    'not-a-decision',
    request.isQuestion
      ? `${request.agent} of ${id} asks a question, which needs a text.`
      : `${request.agent} of ${id} asks permission for ${callText(request)}.`,
    request.isQuestion ? 'Answer it with a text.' : `Answer with ${choicesText(request)}.`,
  );
}

function isWanted(item: OpenItem, { agent, request, by }: WantedItem): boolean {
  if (agent !== undefined && item.agent !== agent) return false;
  if (request !== undefined && !(item.kind === 'request' && item.request.startsWith(request)))
    return false;
  const isText = item.kind === 'asking' || item.isQuestion === true;
  return by === undefined || isText === (by === 'text');
}

function noItem(id: string, { agent, request }: WantedItem): UserError {
  const fact =
    request !== undefined
      ? `${id} has no open permission request ${oneLine(request, 40)}.`
      : agent === undefined
        ? `No agent of ${id} has a question.`
        : `${id} has no agent ${agent} with a question.`;
  return new UserError('no-question', fact, `To see its agents: raymond show ${id}`);
}

function severalItems(id: string, open: readonly OpenItem[]): UserError {
  const hasRequest = open.some(({ kind }) => kind === 'request');
  const names = open.map((item) =>
    item.kind === 'asking'
      ? `${item.agent} (${oneLine(item.question, 40)})`
      : `${item.agent} --request ${shortRequest(item.request)} (${oneLine(textOf(item), 40)})`,
  );
  return new UserError(
    'several-questions',
    hasRequest
      ? `${open.length} questions and permission requests of ${id} are open: ${names.join(', ')}.`
      : `${open.length} agents of ${id} have questions: ${names.join(', ')}.`,
    hasRequest ? 'Name one with --agent or --request.' : 'Name one with --agent.',
  );
}

const textOf = (request: Request) => (request.isQuestion ? request.input : callText(request));
