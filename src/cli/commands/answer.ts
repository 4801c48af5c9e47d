import { waitsForPerson } from '../../model/tally.ts';
import { UserError } from '../../model/user-error.ts';
import { isDecisionWord, readDecision } from '../../parse/decision.ts';
import type { RunStore, StoredRun } from '../../ports.ts';
import { answerText } from '../answer-text.ts';
import { meansRun } from '../find-run.ts';
import { giveAnswer } from '../give-answer.ts';
import { checkOffered, giveDecision } from '../give-decision.ts';
import { refuseInside } from '../inside.ts';
import { openItem, openItems } from '../open-items.ts';
import { allRuns, openRun, runToChange } from '../runs.ts';
import type { Here } from '../surroundings.ts';
import { stderr, stdout } from '../terminal.ts';
import { userName } from '../user-name.ts';

export interface AnswerOptions {
  readonly agent?: string;
  readonly request?: string;
  readonly json?: boolean;
}

/**
 * Answers an agent's question, or decides about a permission request. The mailbox keeps the answer
 * until the run uses it.
 */
export async function answer(
  here: Here,
  words: readonly string[],
  options: AnswerOptions,
): Promise<number> {
  const around = await here();
  const { store } = around;
  const { found, written } = await meant(store, words);
  const { id, owner } = found;
  await refuseInside(around, id, 'answer its questions');
  const item = await openItem(store, found, options);
  const { agent } = item;
  if (item.kind === 'asking') {
    if (written.length > 1) throw tooManyWords(id, agent);
    const text = await answerText(written[0], { ...item, run: id });
    await giveAnswer(store, id, item, text);
    if (options.json) stdout.json({ workflow_id: id, agent, answered: true });
  } else {
    const text = await answerText(oneText(written), { agent, run: id, request: item });
    const decision = checkOffered(id, item, readDecision(text, item));
    await giveDecision(store, id, item, decision, userName());
    if (options.json)
      stdout.json({
        ...{ workflow_id: id, agent, answered: true },
        ...{ request: item.request, decision: decision.decision },
      });
  }
  const what = item.kind === 'asking' || item.isQuestion ? 'answer' : 'decision';
  if (options.json) return 0;
  if (owner?.isAwaited) stderr.say(`The ${what} is saved. The next worker that starts uses it.`);
  else if (owner) stderr.say(`The ${what} is delivered to ${agent} of ${id}.`);
  else stderr.offer(`The ${what} is saved. To continue the run: raymond resume ${id}`);
  return 0;
}

/** `deny "not on main"` is two words. */
function oneText(written: readonly string[]): string | undefined {
  return written.length === 0 ? undefined : written.join(' ');
}

function tooManyWords(id: string, agent: string): UserError {
  return new UserError(
    'usage',
    `${agent} of ${id} asks a question, which is answered with one text.`,
    'Put the answer in quotes.',
  );
}

/**
 * A single word that is an id of a run, or resembles one, is not an answer: it may be a typing error. A
 * decision without a run is for the newest run that waits.
 */
async function meant(
  store: RunStore,
  words: readonly string[],
): Promise<{ readonly found: StoredRun; readonly written: readonly string[] }> {
  const [first, second, ...rest] = words;
  if (first === undefined) return { found: await newestThatWaits(store), written: [] };
  const isRun = meansRun(await store.list(), first);
  if (isDecisionWord(first) && !isRun)
    return { found: await newestThatWaits(store), written: words };
  if (second === undefined && !isRun)
    return { found: await newestThatWaits(store), written: [first] };
  const found = await openRun(store, await runToChange(store, first));
  return { found, written: second === undefined ? [] : [second, ...rest] };
}

async function newestThatWaits(store: RunStore): Promise<StoredRun> {
  for (const found of (await allRuns(store)).toReversed()) {
    // To answer a run that the user did not start, the user has to name it.
    if (found.kind === 'damaged' || !found.isOwn || waitsForPerson(found.run.tally) === 0) continue;
    const asking = await openRun(store, found.id);
    const items = await openItems(store, asking.run);
    if (items.some(({ isAnswered }) => !isAnswered)) return asking;
  }
  throw new UserError(
    'no-question',
    'No run of this project waits for an answer.',
    'To see all runs: raymond list',
  );
}
