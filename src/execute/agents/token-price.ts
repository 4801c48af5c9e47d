/**
 * Prices for agents that report tokens and no cost. The result is marked as an estimate. For an unknown
 * model it is too high rather than too low, because the budget must hold.
 */
import type { Price, Prices } from '../../model/configured-agent.ts';
import type { Cost, Usage } from '../../model/step-account.ts';
import { DEAREST, knownPrice } from './price-table.ts';

/** A table of the user overrides the known prices. */
export function priced(tokens: Usage, model: string | undefined, own: Prices = {}): Cost {
  const { input, cached, output } = priceOf(model, own);
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = tokens;
  const fresh = inputTokens + cacheWriteTokens;
  const usd = (fresh * input + cacheReadTokens * cached + outputTokens * output) / 1_000_000;
  return { usd, from: 'priced' };
}

function priceOf(model: string | undefined, own: Prices): Price {
  if (model === undefined) return DEAREST;
  return ownPrice(model, own) ?? knownPrice(model) ?? DEAREST;
}

/** Whether the price of a model is known. Otherwise its cost is a guess that is too high. */
export function hasPrice(model: string, own: Prices = {}): boolean {
  return (ownPrice(model, own) ?? knownPrice(model)) !== undefined;
}

/** For users, with a remedy. */
export function unpricedText(agent: string, model: string): string {
  return `No price is known for the model ${model} of ${agent}, so Raymond assumes the highest one. Add price."${model}" to [agents.${agent}] in your config file.`;
}

/** The longest name that begins the name of the model applies. */
function ownPrice(model: string, own: Prices): Price | undefined {
  const names = Object.keys(own).filter((name) => model.startsWith(name));
  const [longest] = names.toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : own[longest];
}

/** The tokens of a turn: the totals after it without those before, unless the agent began to count again. */
export function usageSince(before: Usage | undefined, total: Usage): Usage {
  if (!before) return total;
  const since = combined(total, before, (now, earlier) => now - earlier);
  return Object.values(since).some((count) => count < 0) ? total : since;
}

/** One number for each kind of tokens, from two numbers. */
export function combined(a: Usage, b: Usage, by: (a: number, b: number) => number): Usage {
  return {
    inputTokens: by(a.inputTokens, b.inputTokens),
    outputTokens: by(a.outputTokens, b.outputTokens),
    cacheReadTokens: by(a.cacheReadTokens, b.cacheReadTokens),
    cacheWriteTokens: by(a.cacheWriteTokens, b.cacheWriteTokens),
  };
}

/** Undefined if there is none. */
export function sumOfUsage(all: readonly Usage[]): Usage | undefined {
  const add = (a: number, b: number) => a + b;
  return all.length === 0 ? undefined : all.reduce((sum, one) => combined(sum, one, add), NO_USAGE);
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};
