/**
 * The section `[agents]` of the user's own config file: prices of models, for agents that report only
 * tokens. A project must not have it, because a low price would lift the budget.
 */
import * as z from 'zod/mini';
import { AGENT_NAMES } from '../execute/agent-option.ts';
import type { Choices } from '../model/agent.ts';

/** USD per million tokens of a model. */
interface Price {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

const usd = z.number().check(z.nonnegative());
const section = z.record(
  z.enum(AGENT_NAMES),
  z.optional(
    z.strictObject({
      price: z.record(
        z.string().check(z.regex(/^\S+$/)),
        z.strictObject({ input: usd, cached: z.optional(usd), output: usd }),
      ),
    }),
  ),
);

/** Reads the section as a choice, which is part of no run; or the path of the value that is wrong. */
export function readAgentsSection(value: unknown): Choices | { readonly wrong: string } {
  const read = section.safeParse(value);
  if (!read.success) return { wrong: ['agents', ...(read.error.issues[0]?.path ?? [])].join('.') };
  const prices = Object.entries(read.data).flatMap(([agent, found]) =>
    Object.entries(found?.price ?? {}).map(([model, { input, cached = input, output }]) =>
      [agent, model, input, cached, output].join(' '),
    ),
  );
  return prices.length > 0 ? { [PRICES]: prices } : {};
}

const PRICES = 'prices';

/** The user's prices for the models of an agent. */
export function pricesFor(agent: string, given: Choices = {}): Readonly<Record<string, Price>> {
  const lines = [given[PRICES] ?? []].flat();
  const words = lines.map((line) => String(line).split(' '));
  return Object.fromEntries(
    words
      .filter(([owner]) => owner === agent)
      .map(([, model = '', ...numbers]) => {
        const [input = 0, cached = 0, output = 0] = numbers.map(Number);
        return [model, { input, cached, output }];
      }),
  );
}
