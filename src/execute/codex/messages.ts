/** Reads the lines that `codex exec --json` prints. */
import * as z from 'zod/mini';
import { parsed } from '../../model/attempt.ts';
import type { Usage } from '../../model/step-account.ts';
import { lineReader } from '../lines.ts';

export type Happening =
  | { readonly kind: 'thread'; readonly id: string }
  | { readonly kind: 'turn' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly name: string; readonly summary: string }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'completed'; readonly totals: Usage }
  | { readonly kind: 'failed'; readonly message: string };

/** Text that is no message is ignored. A line may arrive in parts. */
export function messageReader() {
  const lines = lineReader();
  return (piece: Buffer | string): readonly Happening[] =>
    lines(piece).flatMap(({ text: line }) => readLine(line));
}

function readLine(line: string): readonly Happening[] {
  const { data } = messageSchema.safeParse(parsed(line));
  if (!data) return [];
  switch (data.type) {
    case 'thread.started':
      return [{ kind: 'thread', id: data.thread_id }];
    case 'turn.started':
      return [{ kind: 'turn' }];
    case 'turn.completed':
      return [{ kind: 'completed', totals: readTokens(data.usage) }];
    case 'turn.failed':
      return [{ kind: 'failed', message: data.error.message }];
    case 'error':
      return [{ kind: 'error', message: data.message }];
    case 'item.started':
      return toolOf(data.item);
    case 'item.completed':
      return data.item.type === 'agent_message'
        ? [{ kind: 'text', text: data.item.text ?? '' }]
        : [];
  }
}

type Item = z.infer<typeof itemSchema>;

function toolOf({ type, command, tool, query }: Item): readonly Happening[] {
  if (!TOOLS.includes(type)) return [];
  return [{ kind: 'tool', name: tool ?? type, summary: command ?? query ?? '' }];
}

const TOOLS = ['command_execution', 'file_change', 'mcp_tool_call', 'web_search'];

const text = z.string();
const count = z._default(z.number().check(z.nonnegative()), 0);

const itemSchema = z.object({
  type: text,
  text: z.optional(text),
  command: z.optional(text),
  tool: z.optional(text),
  query: z.optional(text),
});

const tokensSchema = z.object({
  input_tokens: count,
  cached_input_tokens: count,
  output_tokens: count,
});

const messageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thread.started'), thread_id: text }),
  z.object({ type: z.literal('turn.started') }),
  z.object({ type: z.literal('turn.completed'), usage: tokensSchema }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: text }) }),
  z.object({ type: z.literal('error'), message: text }),
  z.object({ type: z.literal('item.started'), item: itemSchema }),
  z.object({ type: z.literal('item.completed'), item: itemSchema }),
]);

/** Codex counts cached tokens as part of the input. */
function readTokens(usage: z.infer<typeof tokensSchema>): Usage {
  const { input_tokens, cached_input_tokens: cacheReadTokens, output_tokens } = usage;
  const inputTokens = Math.max(0, input_tokens - cacheReadTokens);
  return { inputTokens, outputTokens: output_tokens, cacheReadTokens, cacheWriteTokens: 0 };
}

const tokenCountSchema = z.object({
  payload: z.object({
    type: z.literal('token_count'),
    info: z.object({ total_token_usage: tokensSchema, last_token_usage: z.optional(tokensSchema) }),
  }),
});
const contextSchema = z.object({
  type: z.literal('turn_context'),
  payload: z.object({ model: text }),
});

interface Rollout {
  readonly totals?: Usage;
  readonly model?: string;
  /** The tokens of the newest request to the model, with its answer. */
  readonly contextTokens?: number;
}

/** What codex's own record of a thread says about it: its tokens, and its newest model. */
export function readRollout(content: string): Rollout {
  let totals: Usage | undefined;
  let contextTokens: number | undefined;
  let model: string | undefined;
  for (const line of content.split('\n')) {
    if (line.includes('"token_count"')) {
      const { data } = tokenCountSchema.safeParse(parsed(line));
      if (!data) continue;
      const { total_token_usage: total, last_token_usage: last } = data.payload.info;
      totals = readTokens(total);
      // A compaction of its own reports no tokens at all.
      if (last && last.input_tokens > 0) contextTokens = last.input_tokens + last.output_tokens;
    } else if (line.includes('"turn_context"')) {
      model = contextSchema.safeParse(parsed(line)).data?.payload.model ?? model;
    }
  }
  return {
    ...(totals && { totals }),
    ...(model !== undefined && { model }),
    ...(contextTokens !== undefined && { contextTokens }),
  };
}
