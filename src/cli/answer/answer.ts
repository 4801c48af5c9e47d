import { askedItem, answer as giveAnswer } from '../../app/answer.ts';
import { meansRun, runToChange } from '../../app/find-run.ts';
import { waitingRuns } from '../../app/open-items.ts';
import type { OpenItem } from '../../host/questions.ts';
import { UserError } from '../../model/user-error.ts';
import { callText, oneLine } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { isDecisionWord } from '../../parse/decision.ts';
import type { RunStore } from '../../ports.ts';
import type { Here } from '../../world/surroundings.ts';
import { isAttended, stderr, stdout } from '../terminal/terminal.ts';
import { answerText, textFromPerson } from './answer-text.ts';

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
  const { id, written } = await meant(store, words);
  const asked = await askedItem(around, id, options);
  const { item, owner } = asked;
  const { agent } = item;
  if (item.kind === 'asking' && written.length > 1) throw tooManyWords(id, agent);
  const about = item.kind === 'asking' ? { ...item, run: id } : { agent, run: id, request: item };
  const given = await giveAnswer(around, asked, await answerText(oneText(written), about));
  if (options.json) {
    const decided = given && { request: given.request, decision: given.decision };
    stdout.json({ workflow_id: id, agent, answered: true, ...decided });
    return 0;
  }
  const what = item.kind === 'asking' || item.isQuestion ? 'answer' : 'decision';
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
 * decision without a run is for the run that waits.
 */
async function meant(
  store: RunStore,
  words: readonly string[],
): Promise<{ readonly id: string; readonly written: readonly string[] }> {
  const [first, second, ...rest] = words;
  if (first === undefined) return { id: await runThatWaits(store), written: [] };
  const isRun = meansRun(await store.list(), first);
  if (isDecisionWord(first) && !isRun) return { id: await runThatWaits(store), written: words };
  if (second === undefined && !isRun) return { id: await runThatWaits(store), written: [first] };
  return {
    id: await runToChange(store, first),
    written: second === undefined ? [] : [second, ...rest],
  };
}

/** The run that waits for a person. If several do, the person at the terminal chooses one. */
async function runThatWaits(store: RunStore): Promise<string> {
  const waiting = await waitingRuns(store);
  const [only, ...others] = waiting;
  if (!only)
    throw new UserError(
      'no-question',
      'No run of this project waits for an answer.',
      'To see all runs: raymond list',
    );
  if (others.length === 0) return only.id;
  const fact = `${waiting.length} runs wait for you`;
  const described = waiting.map(({ id, items: [item] }) => `${id}: ${item && itemText(item)}`);
  if (!isAttended())
    throw wrongUsage(`${fact}. ${described.join('; ')}`, 'Name the run: raymond answer RUN "..."');
  stderr.say(`${fact}:`, ...described.map((text, index) => `  ${index + 1}  ${text}`));
  const all = `1-${waiting.length}`;
  const chosen = await textFromPerson(`Which one? (${all}) `, (text) =>
    waiting[Number(text) - 1] ? undefined : `"${oneLine(text, 20)}" is none of ${all}.`,
  );
  return waiting[Number(chosen) - 1]?.id ?? only.id;
}

const itemText = (item: OpenItem) =>
  item.kind === 'asking'
    ? `${item.agent} asks: ${oneLine(item.question, LONGEST_QUESTION)}`
    : `${item.agent} asks permission: ${callText(item)}`;

const LONGEST_QUESTION = 60;
