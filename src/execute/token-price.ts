/**
 * Prices for agents that report tokens and no cost. The result is marked as an estimate. For an unknown
 * model it is too high rather than too low, because the budget must hold.
 */
import type { Price, Prices } from '../model/configured-agent.ts';
import type { Cost, Usage } from '../model/step-account.ts';

/** Cached tokens are part of the input. */
export interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** The first entry whose name begins the name of the model applies. */
const PRICES: readonly (readonly [string, Price])[] = [
  ['gpt-5-pro', { input: 15, cached: 15, output: 120 }],
  ['gpt-5-nano', { input: 0.05, cached: 0.005, output: 0.4 }],
  ['gpt-5-mini', { input: 0.25, cached: 0.025, output: 2 }],
  ['gpt-5.1-codex-mini', { input: 0.25, cached: 0.025, output: 2 }],
  ['gpt-5', { input: 1.25, cached: 0.125, output: 10 }],
  ['codex-mini', { input: 1.5, cached: 0.375, output: 6 }],
  ['gpt-4.1', { input: 2, cached: 0.5, output: 8 }],
  ['o4-mini', { input: 1.1, cached: 0.275, output: 4.4 }],
  ['o3', { input: 2, cached: 0.5, output: 8 }],
  ['claude-opus-4-1', { input: 15, cached: 1.5, output: 75 }],
  ['claude-opus', { input: 5, cached: 0.5, output: 25 }],
  ['claude-sonnet', { input: 3, cached: 0.3, output: 15 }],
  ['claude-haiku', { input: 1, cached: 0.1, output: 5 }],
  ['gemini-2.5-flash-lite', { input: 0.1, cached: 0.01, output: 0.4 }],
  ['gemini-2.5-flash', { input: 0.3, cached: 0.03, output: 2.5 }],
  // The price for long contexts, which is higher.
  ['gemini-2.5-pro', { input: 2.5, cached: 0.25, output: 15 }],
];

const DEAREST: Price = { input: 15, cached: 15, output: 120 };

/** A table of the user overrides the known prices. */
export function priced(tokens: Tokens, model: string | undefined, own: Prices = {}): Cost {
  const { input, cached, output } = priceOf(model, own);
  const fresh = Math.max(0, tokens.input - tokens.cached);
  const usd = (fresh * input + tokens.cached * cached + tokens.output * output) / 1_000_000;
  return { usd, from: 'priced' };
}

function priceOf(model: string | undefined, own: Prices): Price {
  if (model === undefined) return DEAREST;
  const known = [...Object.entries(own), ...PRICES];
  return known.find(([name]) => model.startsWith(name))?.[1] ?? DEAREST;
}

/** The tokens of a turn: the totals of its thread without those before the turn. */
export function tokensSince(before: Tokens | undefined, now: Tokens): Tokens {
  if (!before || now.input < before.input || now.output < before.output) return now;
  return {
    input: now.input - before.input,
    cached: Math.max(0, now.cached - before.cached),
    output: now.output - before.output,
  };
}

export function usageOf({ input, cached, output }: Tokens): Usage {
  return {
    inputTokens: Math.max(0, input - cached),
    outputTokens: output,
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  };
}
