import {
  type AskedItem,
  approve,
  askedItem,
  answer as giveAnswer,
  whatToSign,
} from '../../app/answer.ts';
import { answerByCode, type GivenCode } from '../../app/answer-by-code.ts';
import { filesAt } from '../../app/answer-files.ts';
import { meansRun, runToChange } from '../../app/find-run.ts';
import { waitingRuns } from '../../app/open-items.ts';
import { readRegularFileSync } from '../../files/regular-file.ts';
import type { OpenItem } from '../../host/questions.ts';
import { messageOf } from '../../model/message-of.ts';
import { UserError } from '../../model/user-error.ts';
import { callText, oneLine } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { isDecisionWord } from '../../parse/decision.ts';
import type { RunStore } from '../../ports.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { isAttended, stderr, stdout } from '../terminal/terminal.ts';
import { answerText, textFromPerson, textFromStandardInput } from './answer-text.ts';

export interface AnswerOptions {
  readonly agent?: string;
  readonly file?: readonly string[];
  readonly request?: string;
  readonly code?: string;
  readonly sign?: string;
  readonly signature?: string;
  readonly toSign?: boolean;
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
  if (options.code !== undefined) return withCode(around, options.code, words, options);
  const { store } = around;
  const { id, written } = await meant(store, words);
  const asked = await askedItem(around, id, options);
  const { item, owner } = asked;
  const { agent } = item;
  if (item.kind === 'request' && options.file)
    throw wrongUsage('A permission request takes no files.', 'Remove --file.');
  if (item.kind === 'asking' && written.length > 1) throw tooManyWords(id, agent);
  if (options.sign !== undefined || options.signature !== undefined || options.toSign)
    return withSignature(around, asked, oneText(written), options);
  const files = await filesAt(options.file ?? [], around.cwd, asked);
  // Who sends a file need not write anything.
  const text = written.length === 0 && files.length > 0 ? '' : oneText(written);
  const about = item.kind === 'asking' ? { ...item, run: id } : { agent, run: id, request: item };
  const given = await giveAnswer(around, asked, await answerText(text, about), files);
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

/** The code says which run and which question it is. */
async function withCode(
  around: Surroundings,
  code: string,
  words: readonly string[],
  { agent, request, file, json }: AnswerOptions,
): Promise<number> {
  if (agent !== undefined || request !== undefined || words.length > 1)
    throw wrongUsage(
      'A code already says which question it answers.',
      'Write only the answer beside it, in quotes: raymond answer --code CODE "..."',
    );
  if (file) throw onlyText('A code carries a text and no files.');
  const used = await answerByCode(around, await codeAndText(code, words[0]));
  const { run, project, agent: asker, answer, isCarried } = used;
  if (json)
    stdout.json({
      ...{ workflow_id: run, project: project ?? null, agent: asker, answered: true },
      ...(answer !== 'text' && { decision: answer }),
    });
  else if (isCarried) stderr.say(`The answer is delivered to ${asker} of ${run}.`);
  else stderr.say(`The answer to ${asker} of ${run} is saved. The run uses it after a resume.`);
  return 0;
}

/** With `-`, standard input has the code on its first line, where no list of processes shows it. */
async function codeAndText(code: string, written: string | undefined): Promise<GivenCode> {
  if (code !== '-')
    return { code, text: written === '-' ? await textFromStandardInput() : written };
  const [first = '', ...rest] = (await textFromStandardInput()).split('\n');
  return { code: first, text: written ?? (rest.length > 0 ? rest.join('\n') : undefined) };
}

/** Signs an answer, takes the signature of somebody else, or prints what is to be signed. */
async function withSignature(
  around: Surroundings,
  asked: AskedItem,
  text: string | undefined,
  { file, sign, signature, toSign, json }: AnswerOptions,
): Promise<number> {
  if (file) throw onlyText('People sign a text, and no files.');
  if ([sign, signature, toSign].filter((one) => one !== undefined).length > 1 || text === undefined)
    throw wrongUsage(
      'A signature is for one answer.',
      'Write the answer, and one of --sign, --signature and --to-sign.',
    );
  const { id, item, owner } = asked;
  if (toSign) {
    await stdout.document(whatToSign(asked, text));
    return 0;
  }
  const signed =
    sign === undefined ? signatureIn(signature ?? '') : await signedWith(sign, asked, text);
  const { by, isComplete, signed: all, missing } = await approve(around, asked, text, signed);
  if (json) {
    const names = all.map((one) => ({ by: one.by, answer: one.text }));
    const facts = { workflow_id: id, agent: item.agent, answered: isComplete };
    stdout.json({ ...facts, signed: names, missing });
    return 0;
  }
  stderr.say(`${by} has signed the answer to ${item.agent} of ${id}.`);
  if (!isComplete)
    stderr.say(
      `More signatures are needed. Who can sign: ${missing.join(', ') || 'nobody else on the list'}`,
    );
  else if (!owner) stderr.offer(`It is answered. To continue the run: raymond resume ${id}`);
  return 0;
}

const onlyText = (fact: string) =>
  wrongUsage(fact, 'Remove --file, and say in the text where the file is.');

async function signedWith(keyFile: string, asked: AskedItem, text: string): Promise<string> {
  const { signText } = await import('../../execute/signatures/ssh-signatures.ts');
  const signed = await signText(keyFile, whatToSign(asked, text));
  if ('signature' in signed) return signed.signature;
  throw new UserError(
    'not-signed',
    `The key ${keyFile} cannot sign: ${oneLine(signed.why, 200)}`,
    'Name your private key, or the public key of a key that your ssh-agent has.',
  );
}

function signatureIn(file: string): string {
  try {
    return readRegularFileSync(file, MOST_SIGNATURE_BYTES).toString('utf8');
  } catch (error) {
    throw wrongUsage(
      `${file} cannot be read: ${messageOf(error)}.`,
      'Name the file of a signature.',
    );
  }
}

const MOST_SIGNATURE_BYTES = 64 * 1024;

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
