// Estimates the cost of a turn without a result from the usage of its messages. An estimate is too
// high rather than too low, because the budget must hold. Other turns report their cost.
import type { Usage } from '../../model/step-account.ts';
import { combined, sumOfUsage } from '../agents/token-price.ts';
import type { Spending } from './messages.ts';

interface TurnMeter {
  add(spending: Spending): void;
  /** The newest message has grown. */
  addWritten(characters: number): void;
  /** The newest message is complete. */
  addOutput(tokens: number): void;
  estimateUsd(): number;
  /** The usage of all messages together; undefined if there was none. */
  usage(): Usage | undefined;
  /** The model of the newest message. */
  model(): string | undefined;
  /** The tokens that the model read and wrote for one message; undefined if they are unknown. */
  sizeOf(message: string): number | undefined;
}

/** Claude Code reports each content block with the usage of its whole message, so each counts once. */
export function turnMeter(): TurnMeter {
  const messages = new Map<string, Spending>();
  const written = new Map<string, number>();
  let newest = '';
  return {
    add(spending) {
      newest = spending.message;
      const before = messages.get(newest);
      messages.set(newest, before === undefined ? spending : merge(before, spending));
    },
    addWritten(characters) {
      written.set(newest, (written.get(newest) ?? 0) + characters);
    },
    addOutput(tokens) {
      const message = messages.get(newest);
      if (!message) return;
      messages.set(newest, { ...message, outputTokens: Math.max(message.outputTokens, tokens) });
    },
    estimateUsd: () =>
      [...messages].reduce((sum, [id, each]) => sum + price(each, written.get(id) ?? 0), 0),
    usage: () => sumOfUsage([...messages.values()]),
    model: () => messages.get(newest)?.model || undefined,
    sizeOf(id) {
      const message = messages.get(id);
      if (!message) return undefined;
      const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = message;
      return inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens;
    },
  };
}

function merge(before: Spending, more: Spending): Spending {
  return {
    ...more,
    ...combined(before, more, Math.max),
    characters: before.characters + more.characters,
  };
}

/** USD per million tokens, as Claude Code itself counts them. The first match applies. */
const prices: readonly { model: RegExp; input: number; output: number }[] = [
  { model: /fable|mythos/, input: 10, output: 50 },
  { model: /opus-4-[01]\b|opus-4-2025|3-opus/, input: 15, output: 75 },
  { model: /opus/, input: 5, output: 25 },
  { model: /sonnet/, input: 3, output: 15 },
  { model: /haiku/, input: 1, output: 5 },
];
const dearest = { input: 15, output: 75 };
const cacheReadFactor = 0.1;
// Cache entries live for five minutes or one hour. This is the factor of the more expensive kind.
const cacheWriteFactor = 2;
const charactersPerToken = 3;

function price(spending: Spending, written: number): number {
  const { input, output } = prices.find(({ model }) => model.test(spending.model)) ?? dearest;
  const inputTokens =
    spending.inputTokens +
    spending.cacheReadTokens * cacheReadFactor +
    spending.cacheWriteTokens * cacheWriteFactor;
  // While a message is streamed, its usage has only the first few output tokens.
  const outputTokens = Math.max(
    spending.outputTokens,
    Math.ceil(Math.max(spending.characters, written) / charactersPerToken),
  );
  return (inputTokens * input + outputTokens * output) / 1_000_000;
}

export interface CostBefore {
  readonly version: string;
  /** The total of the process's previous result, when it is warm. */
  readonly processTotalUsd?: number | undefined;
  /** The total of the session that is resumed or branched from, before the turn. */
  readonly transcriptTotalUsd?: number | undefined;
}

/** The part of the next result's total that was spent and counted before this turn. */
export function alreadyCounted(before: CostBefore): number {
  if (before.processTotalUsd !== undefined) return before.processTotalUsd;
  return accumulates(before.version) ? (before.transcriptTotalUsd ?? 0) : 0;
}

/** Since 2.1.277, totals continue over resumes, and a branch starts with its parent's total. */
function accumulates(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number.parseFloat);
  return (major - 2 || minor - 1 || patch - 277) >= 0;
}
