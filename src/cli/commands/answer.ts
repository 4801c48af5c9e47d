import { UserError } from '../../model/user-error.ts';
import { oneLine } from '../../observe/words.ts';
import type { RunStore, StoredRun } from '../../ports.ts';
import { answerText } from '../answer-text.ts';
import { meansRun } from '../find-run.ts';
import { answeredAlready, giveAnswer } from '../give-answer.ts';
import { refuseInside } from '../inside.ts';
import { type Question, questionsOf } from '../questions.ts';
import { allRuns, openRun, runToChange } from '../runs.ts';
import type { Here } from '../surroundings.ts';
import { stderr, stdout } from '../terminal.ts';

export interface AnswerOptions {
  readonly agent?: string;
  readonly json?: boolean;
}

/** Answers an agent's question. The mailbox keeps the answer until the run uses it. */
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
  const question = await openQuestion(store, found, options.agent);
  const { agent } = question;
  const text = await answerText(written, { ...question, run: id });
  await giveAnswer(store, id, question, text);
  if (options.json) stdout.json({ workflow_id: id, agent, answered: true });
  else if (!owner) stderr.offer(`The answer is saved. To continue the run: raymond resume ${id}`);
  else stderr.say(`The answer is delivered to ${agent} of ${id}.`);
  return 0;
}

/** A single word that is an id of a run, or resembles one, is not an answer: it may be a typing error. */
async function meant(
  store: RunStore,
  [first, second]: readonly string[],
): Promise<{ readonly found: StoredRun; readonly written: string | undefined }> {
  if (first === undefined) return { found: await newestThatWaits(store), written: undefined };
  if (second !== undefined || meansRun(await store.list(), first))
    return { found: await openRun(store, await runToChange(store, first)), written: second };
  return { found: await newestThatWaits(store), written: first };
}

async function newestThatWaits(store: RunStore): Promise<StoredRun> {
  for (const found of (await allRuns(store)).toReversed()) {
    // To answer a run that the user did not start, the user has to name it.
    if (found.kind === 'damaged' || !found.isOwn || found.run.tally.asking === 0) continue;
    const asking = await openRun(store, found.id);
    const questions = await questionsOf(store, asking.run);
    if (questions.some(({ isAnswered }) => !isAnswered)) return asking;
  }
  throw new UserError(
    'no-question',
    'No run of this project waits for an answer.',
    'To see all runs: raymond list',
  );
}

/** The question of an agent, or the only one. Throws a UserError if it is unclear which one is meant. */
export async function openQuestion(
  store: RunStore,
  { id, run }: StoredRun,
  wanted: string | undefined,
): Promise<Question> {
  const asked = (await questionsOf(store, run)).filter(
    ({ agent }) => wanted === undefined || agent === wanted,
  );
  const [first, ...others] = asked.filter(({ isAnswered }) => !isAnswered);
  if (first && others.length > 0) throw severalQuestions(id, [first, ...others]);
  if (first) return first;
  const [answered] = asked;
  if (answered) throw answeredAlready(id, answered.agent);
  throw new UserError(
    'no-question',
    wanted === undefined
      ? `No agent of ${id} has a question.`
      : `${id} has no agent ${wanted} with a question.`,
    `To see its agents: raymond show ${id}`,
  );
}

function severalQuestions(id: string, open: readonly Question[]): UserError {
  const names = open.map(({ agent, question }) => `${agent} (${oneLine(question, 40)})`);
  return new UserError(
    'several-questions',
    `${open.length} agents of ${id} have questions: ${names.join(', ')}.`,
    'Name one with --agent.',
  );
}
