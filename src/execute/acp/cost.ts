/** The cost of a turn: in USD if the agent reports it, else priced from its tokens, else estimated. */
import type { Prices } from '../../model/configured-agent.ts';
import type { Account, Cost, Usage } from '../../model/step-account.ts';
import { NO_USAGE, priced, sumOfUsage, usageSince } from '../agents/token-price.ts';
import { type Fields, fields, list, number, text } from '../json.ts';

interface TurnUsage {
  /** The result of the prompt; undefined if there is none. */
  readonly result: unknown;
  /** The sum of the tokens that the agent reported during the turn. */
  readonly reported: Usage | undefined;
  /** The totals that the agent reported before and after the turn. */
  readonly beforeUsd: number;
  readonly totalUsd: number | undefined;
  readonly beforeUsage?: Usage | undefined;
  readonly totalUsage?: Usage | undefined;
  /** The model as the agent names it. */
  readonly model: string | undefined;
  /** The length of the prompt and of everything that the model has written. */
  readonly characters: number;
  readonly hasSpoken: boolean;
  /** How many requests to the model there may have been for each one whose tokens are known. */
  readonly requests: number;
}

export function costOf(turn: TurnUsage, prices: Prices): Pick<Account, 'cost' | 'usage'> {
  const stated = turn.totalUsage && usageSince(turn.beforeUsage, turn.totalUsage);
  const counts = stated ? [{ usage: stated }] : countsIn(fields(turn.result), turn.reported);
  const usage = sumOfUsage(counts.map(({ usage }) => usage));
  const told = toldUsd(turn);
  // A model without a price in the agent's own table costs 0 there.
  const hasTokens = usage && Object.values(usage).some((count) => count > 0);
  if (told !== undefined && (told > 0 || !hasTokens))
    return { cost: { usd: told, from: 'told' }, ...(usage && { usage }) };
  if (!usage) return { cost: estimated(turn, prices) };
  const usd = counts
    .map(({ usage: one, model }) => priced(one, plainName(model ?? turn.model), prices))
    .reduce((total, cost) => total + cost.usd, 0);
  // Too high rather than too low: the context grows with each request, and so does its price.
  if (turn.requests > 1) return { cost: { usd: usd * turn.requests, from: 'estimated' }, usage };
  return { cost: { usd, from: 'priced' }, usage };
}

/** The agent may have begun to count again, for example in a new process. */
export function toldUsd({
  beforeUsd,
  totalUsd,
}: Pick<TurnUsage, 'beforeUsd' | 'totalUsd'>): number | undefined {
  if (totalUsd === undefined) return undefined;
  return totalUsd >= beforeUsd ? totalUsd - beforeUsd : totalUsd;
}

/** Four characters are about one token. */
function estimated({ characters, hasSpoken, model }: TurnUsage, prices: Prices): Cost {
  if (!hasSpoken) return { usd: 0, from: 'estimated' };
  const tokens = Math.ceil(characters / 4);
  const usage = { ...NO_USAGE, inputTokens: tokens, outputTokens: tokens };
  const { usd } = priced(usage, plainName(model), prices);
  return { usd, from: 'estimated' };
}

interface Count {
  readonly usage: Usage;
  readonly model?: string;
}

/**
 * The protocol has a field for the tokens of a turn. Some agents report them by model, in another field, or
 * with each message.
 */
function countsIn(result: Fields, reported: Usage | undefined): readonly Count[] {
  const { token_count, model_usage } = fields(fields(result._meta).quota);
  const byModel = list(model_usage)
    .map(fields)
    .flatMap((one) => {
      const usage = usageIn(fields(one.token_count));
      return usage ? [{ usage, model: text(one.model) }] : [];
    });
  const total = usageIn(fields(result.usage)) ?? usageIn(fields(token_count)) ?? reported;
  if (!total) return byModel;
  // The total decides. The models only matter for the price.
  const [only] = byModel;
  if (!only || byModel.length > 1) return byModel.length > 1 ? byModel : [{ usage: total }];
  return [{ usage: total, model: only.model }];
}

/** Undefined if the fields do not count tokens. */
export function usageIn(counts: Fields): Usage | undefined {
  const count = (...names: readonly string[]) =>
    names.map((name) => whole(counts[name])).find((value) => value !== undefined);
  const input = count('inputTokens', 'input_tokens');
  const output = count('outputTokens', 'output_tokens');
  if (input === undefined || output === undefined) return undefined;
  const read = count('cachedReadTokens', 'cachedInputTokens') ?? 0;
  const write = count('cachedWriteTokens', 'cacheWriteInputTokens') ?? 0;
  const thought = count('thoughtTokens', 'reasoningOutputTokens') ?? 0;
  const total = count('totalTokens') ?? 0;
  // Agents differ in whether the input includes stored tokens, and the output thoughts. The total shows it.
  const isWhole = total === input + output && read + write > 0;
  const isApart = thought > 0 && total === input + output + read + write + thought;
  return {
    inputTokens: isWhole ? Math.max(0, input - read - write) : input,
    outputTokens: isApart ? output + thought : output,
    cacheReadTokens: read,
    cacheWriteTokens: write,
  };
}

function whole(value: unknown): number | undefined {
  const count = number(value);
  return count !== undefined && count >= 0 ? Math.round(count) : undefined;
}

/** `provider/gpt-5[high]` and `runtime|provider|gpt-5(provider)` are `gpt-5`. */
export function plainName(model: string | undefined): string | undefined {
  return model
    ?.replace(/\[.*$/, '')
    .replace(/\([^()]*\)$/, '')
    .split(/[/|]/)
    .at(-1);
}
