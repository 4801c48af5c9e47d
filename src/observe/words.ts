/** Formats amounts, durations, times and the status of a run, the same in all output. */

import type { Approval } from '../model/approval.ts';
import type { Asks, Condition } from '../model/condition.ts';
import { counted } from '../model/counted.ts';
import type { Cell } from '../model/event.ts';
import { type KeptFile, sizeText } from '../model/kept-file.ts';
import type { AskingStatus } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import { unreachable } from '../model/unreachable.ts';
import { visible } from '../model/visible.ts';
import type { Wait, WaitCount } from '../model/wait.ts';

/** An amount that was computed with a table of prices is an estimate, and is marked with `~`. */
export function usd(amount: number, isEstimate = false): string {
  const mark = isEstimate && amount > 0 ? '~' : '';
  return `${mark}$${amount.toFixed(amount !== 0 && amount < 1 ? 4 : 2)}`;
}

/** For a screen that is looked at from afar: hundredths of a cent only distract there. */
export function cents(amount: number, isEstimate = false): string {
  if (amount > 0 && amount < 0.005) return '<$0.01';
  return `${isEstimate && amount > 0 ? '~' : ''}$${amount.toFixed(2)}`;
}

export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** In one unit, for a column: `5 s`, `12 min`, `3 h`, `8 d`. */
export function age(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  const hours = Math.floor(seconds / 3600);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** For a running clock: `0:05`, `12:05`, `1:02:05`. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const [h, min, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(min)}:${two(s)}` : `${min}:${two(s)}`;
}

/** Local time, with the date if it is not the day of `now`. */
export function time(ms: number, now: number): string {
  const [date, clock] = [day(ms), clockTime(ms)];
  return date === day(now) ? clock : `${date} ${clock}`;
}

export function clockTime(ms: number): string {
  const date = new Date(ms);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

const LONGEST = 160;

/** The text on one line, with a bounded length and all characters visible. */
export function oneLine(text: string, longest = LONGEST): string {
  const head = text.slice(0, longest * 4);
  const letters = Array.from(squeezed(head.replace(/\r?\n/g, ' ')).trim());
  return letters.length > longest || head.length < text.length
    ? `${visible(letters.slice(0, longest).join(''))}...`
    : visible(letters.join(''));
}

/**
 * Removes wide gaps. After one, untrusted text could begin a row of the screen like a line from
 * Raymond.
 */
export function squeezed(text: string): string {
  return text.replace(/[\p{Zs}\t]{2,}|\t/gu, ' ');
}

/** The status of a run for people. Nothing reads these words: programs take the value. */
export function conditionText(condition: Condition, now: number): string {
  if (condition.kind === 'stopped') return `stopped: ${condition.by}`;
  const also = 'asks' in condition ? alsoAsks(condition.asks) : '';
  if (condition.kind !== 'waiting') return `${condition.kind}${also}`;
  switch (condition.for) {
    case 'resume':
      return 'waiting';
    case 'worker':
      return 'waiting for a worker';
    case 'person':
      return `waiting for ${wanted(condition.asks)}`;
    case 'limit':
      return `waiting for the ${condition.limit} until ${time(condition.until, now)}${also}`;
    default:
      return unreachable(condition);
  }
}

const wanted = ({ asking }: Asks) => (asking > 0 ? 'an answer' : 'a permission');

const alsoAsks = (asks: Asks) =>
  asks.asking + asks.asksPermission > 0 ? `, waiting for ${wanted(asks)}` : '';

/** What an agent waits for, after its name. */
export function waitText(wait: Wait, now: number): string {
  switch (wait.for) {
    case 'person':
      return 'asks you';
    case 'money':
      return 'waits for money';
    case 'place':
      return `waits for a place (${wait.places} of ${wait.places} busy)`;
    case 'limit':
      return `waits for the usage limit until ${time(wait.until, now)}`;
    case 'worker':
      return 'waits for a worker';
    case 'children':
      return `waits for ${wait.open} of ${wait.all} ${wait.all === 1 ? 'child' : 'children'}`;
    case 'retry':
      return 'waits for a retry';
    default:
      return unreachable(wait);
  }
}

/** `2 ask you, 12 wait for a place (8 of 8 busy), 3 for their child agents` */
export function waitsText(counts: readonly WaitCount[]): string {
  return counts.map(waitCountText).join(', ');
}

function waitCountText({ wait, count }: WaitCount, i: number, all: readonly WaitCount[]): string {
  if (wait.for === 'person') return `${count} ${count === 1 ? 'asks' : 'ask'} you`;
  const isFirst = i === 0 || all[i - 1]?.wait.for === 'person';
  const verb = isFirst ? (count === 1 ? ' waits' : ' wait') : '';
  return `${count}${verb} for ${wantedText(wait, count)}`;
}

function wantedText(wait: Exclude<Wait, { for: 'person' }>, count: number): string {
  switch (wait.for) {
    case 'place':
      return `a place (${wait.places} of ${wait.places} busy)`;
    case 'children':
      return count === 1 ? 'its child agents' : 'their child agents';
    case 'limit':
      return 'the usage limit';
    case 'worker':
    case 'retry':
      return `a ${wait.for}`;
    case 'money':
      return wait.for;
    default:
      return unreachable(wait);
  }
}

/** A tool call of a permission request: `Bash git push`. */
export function callText({ tool, summary }: { readonly tool: string; readonly summary: string }) {
  return oneLine(`${tool} ${summary}`);
}

/** What a person can decide, one line each, with the number and the word for it. */
export function choiceLines(request: AskedRequest | undefined): readonly string[] {
  if (!request || request.isQuestion) return [];
  const { rules } = request;
  return [
    '  1  allow      only this call',
    ...(rules ? [`  2  allow-run  also, until the run ends: ${rulesText(rules)}`] : []),
    '  3  deny       not this call; you may add why: 3 use git switch',
  ];
}

/** The words that a person can answer with. */
export function choicesText({ rules }: Pick<AskedRequest, 'rules'>): string {
  return rules ? `allow, allow-run (${rulesText(rules)}), or deny "why"` : 'allow, or deny "why"';
}

/** Why a text decides nothing. */
export function notDecision(text: string, { rules }: Pick<AskedRequest, 'rules'>): string {
  const choices = `1 (allow)${rules ? ', 2 (allow-run)' : ''} or 3 (deny)`;
  return `"${oneLine(text, 30)}" decides nothing here. Type ${choices}. You may add a reason to 3.`;
}

/** All rules that `allow-run` grants. An executor offers no more than fit. */
export const rulesText = (rules: readonly string[]): string => oneLine(rules.join(', '));

/** Follows a call if similar calls can be allowed as well. */
export function grantText({ rules }: Pick<AskedRequest, 'rules'>): string {
  return rules ? `; allow-run also allows ${rulesText(rules)}` : '';
}

/** What a waiting agent wants, for the line before its question. */
export function asksText(request: AskedRequest | undefined): string {
  return !request || request.isQuestion ? 'asks' : 'asks permission';
}

interface AskedRequest {
  readonly rules?: readonly string[] | undefined;
  readonly isQuestion?: true | undefined;
}

/** The beginning of the id of a request, which names it on the command line. */
export function shortRequest(request: string): string {
  return request.slice(0, SHORT_REQUEST);
}

const SHORT_REQUEST = 8;

function day(ms: number): string {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const two = (n: number) => (n < 10 ? `0${n}` : String(n));

/** Whose signatures a question needs. */
/** `case empty password, strict, #2` */
export function cellText({ case: name, variant, number, scores }: Cell): string {
  const which = [`case ${name}`, ...(variant === '' ? [] : [variant]), `#${number}`].join(', ');
  return scores ? `score ${scores.scorer} of ${which}` : which;
}

export const approvalText = ({ of, to }: Approval) =>
  `needs ${counted(of, 'signature')} of ${oneLine(to, 64)}`;

/** The files of a question, each with the command that shows it. */
export function fileLines(run: string, files: readonly KeptFile[] = []): readonly string[] {
  return files.map(
    ({ name, bytes }) =>
      `File ${oneLine(name, 80)} (${sizeText(bytes)}): raymond show ${shellWord(run)} --file ${shellWord(name)}`,
  );
}

/** What an answer may bring; empty if the question says nothing about it. */
export const acceptLines = (accept: readonly string[] | undefined): readonly string[] =>
  accept ? [`An answer may bring files: ${oneLine(accept.join(', '), 80)}`] : [];

/** The names of files, with their sizes. */
export function filesText(files: readonly KeptFile[] = []): string {
  return files.map(({ name, bytes }) => `${oneLine(name, 80)} (${sizeText(bytes)})`).join(', ');
}

/** What a line about a question or an answer says about its files. */
export const withFiles = (files: readonly KeptFile[] = []): string =>
  files.length > 0 ? ` [files: ${filesText(files)}]` : '';

/** Who has signed, and how many are missing; undefined for a question without signatures. */
export function signaturesText({
  approval,
  signed = [],
}: Pick<AskingStatus, 'approval' | 'signed'>): string | undefined {
  if (!approval) return undefined;
  const names = signed.map(({ by, text }) => `${oneLine(by, 40)} ("${oneLine(text, 20)}")`);
  const so = names.length === 0 ? 'none yet' : names.join(', ');
  return `${approvalText(approval)}; signed: ${so}`;
}
