/**
 * The prices of models, in USD per million tokens: the list prices of their makers for direct use,
 * without discounts for a time. Long requests cost more with some makers, and the tokens of a turn
 * do not show their length. Models of OpenAI have the price of short requests, others the higher one.
 */
import type { Price } from '../../model/configured-agent.ts';

/** When the prices were compared with the pages of the makers. */
export const PRICES_FROM = 'November 2026';

/** The price of a model. Its name may end with the date of a version, and begin with a provider. */
export function knownPrice(model: string): Price | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).replace(/-\d{4}[\d-]*$/, '');
  return PRICES.get(name);
}

/** A model that is not in the table is assumed to cost as much as the most expensive one. */
export const DEAREST: Price = { input: 30, cached: 30, output: 180 };

export const PRICES: ReadonlyMap<string, Price> = new Map([
  ...row(2, 0.1, 10, 'gpt-6.1-sol'),
  ...row(1, 0.05, 5, 'gpt-6.1-terra'),
  ...row(10, 1, 50, 'gpt-6-astra', 'gpt-6-astra-pro'),
  ...row(2, 0.2, 10, 'gpt-6-sol'),
  ...row(0.1, 0.01, 0.5, 'gpt-6-luna'),
  ...row(5, 0.5, 30, 'gpt-5.6-sol', 'gpt-5.5'),
  ...row(2, 0.2, 12, 'gpt-5.6-terra'),
  ...row(0.2, 0.02, 1.2, 'gpt-5.6-luna'),
  ...row(30, 30, 180, 'gpt-5.5-pro', 'gpt-5.4-pro'),
  ...row(2.5, 0.25, 15, 'gpt-5.4'),
  ...row(0.75, 0.075, 4.5, 'gpt-5.4-mini'),
  ...row(0.2, 0.02, 1.25, 'gpt-5.4-nano'),
  ...row(1.75, 0.175, 14, 'gpt-5.3-codex', 'gpt-5.2', 'gpt-5.2-codex'),
  ...row(21, 21, 168, 'gpt-5.2-pro'),
  ...row(1.25, 0.125, 10, 'gpt-5.1', 'gpt-5.1-codex', 'gpt-5.1-codex-max', 'gpt-5', 'gpt-5-codex'),
  ...row(0.25, 0.025, 2, 'gpt-5.1-codex-mini', 'gpt-5-mini'),
  ...row(0.05, 0.005, 0.4, 'gpt-5-nano'),
  ...row(15, 15, 120, 'gpt-5-pro'),
  ...row(1.5, 0.375, 6, 'codex-mini-latest'),
  ...row(2, 0.5, 8, 'gpt-4.1', 'o3'),
  ...row(1.1, 0.275, 4.4, 'o4-mini'),
  ...row(10, 0.25, 50, 'claude-fable-5-1'),
  ...row(10, 1, 50, 'claude-fable-5'),
  ...row(4, 0.2, 20, 'claude-opus-5-5'),
  ...row(5, 0.5, 25, 'claude-opus-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6'),
  ...row(5, 0.5, 25, 'claude-opus-4-5'),
  ...row(15, 1.5, 75, 'claude-opus-4-1', 'claude-opus-4'),
  ...row(2, 0.1, 10, 'claude-sonnet-5-5'),
  ...row(2, 0.2, 10, 'claude-sonnet-5'),
  ...row(3, 0.3, 15, 'claude-sonnet-4-6', 'claude-sonnet-4-5', 'claude-sonnet-4'),
  ...row(0.5, 0.05, 2.5, 'claude-haiku-5-5'),
  ...row(1, 0.1, 5, 'claude-haiku-4-5'),
  ...row(1.5, 0.15, 7.5, 'gemini-3.8-flash', 'gemini-3.7-flash', 'gemini-3.6-flash'),
  ...row(1.5, 0.15, 9, 'gemini-3.5-flash'),
  ...row(4, 0.4, 18, 'gemini-3.1-pro', 'gemini-3.1-pro-preview'),
  ...row(2.5, 0.25, 15, 'gemini-2.5-pro'),
  ...row(0.3, 0.03, 2.5, 'gemini-2.5-flash'),
  ...row(0.1, 0.01, 0.4, 'gemini-2.5-flash-lite'),
]);

function row(input: number, cached: number, output: number, ...names: readonly string[]) {
  return names.map((name) => [name, { input, cached, output }] as const);
}
