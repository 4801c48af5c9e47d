// A Responses API on loopback that answers from a test's script and records the conversations.
import type { ServerResponse } from 'node:http';
import {
  type Answer,
  type Asked,
  type Script,
  type ScriptedApi,
  scriptedApi,
  USAGE,
  type Wire,
} from './scripted-api.ts';

export type { Script };

export interface ScriptedResponses extends ScriptedApi {
  readonly url: string;
}

export async function scriptedResponses(script: Script): Promise<ScriptedResponses> {
  const api = await scriptedApi(RESPONSES, script);
  return { ...api, url: `${api.origin}/v1` };
}

const RESPONSES: Wire = {
  read: (path, body) => (path === '/v1/responses' ? readAsked(body as Body) : undefined),
  answer,
};

async function answer(response: ServerResponse, reply: Answer, number: number): Promise<void> {
  const { input, cached, output } = reply.usage ?? USAGE;
  const id = `resp_${number}`;
  send(response, { type: 'response.created', response: { id } });
  await reply.after;
  const content = [{ type: 'output_text', text: reply.text }];
  const message = { type: 'message', role: 'assistant', id: `msg_${number}`, content };
  const call = reply.tool && {
    type: 'function_call',
    id: `fc_${number}`,
    call_id: `call_${number}`,
    name: reply.tool.name,
    arguments: JSON.stringify(reply.tool.input),
  };
  const items = [...(reply.text === '' && call ? [] : [message]), ...(call ? [call] : [])];
  for (const [output_index, item] of items.entries())
    send(response, { type: 'response.output_item.done', output_index, item });
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  send(response, { type: 'response.completed', response: { id, usage } });
}

function send(response: ServerResponse, event: { readonly type: string; [key: string]: unknown }) {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

interface Body {
  readonly model: string;
  readonly reasoning?: { readonly effort?: string };
  readonly tools?: readonly { readonly name?: string }[];
  readonly input: readonly {
    readonly type: string;
    readonly role?: string;
    readonly content?: readonly { readonly text?: string }[];
    readonly output?: unknown;
  }[];
}

function readAsked({ model, reasoning, input, tools = [] }: Body): Asked {
  const said = input
    .flatMap(({ type, role, content = [], output }) => {
      if (type === 'function_call_output') return [{ role: 'tool', text: JSON.stringify(output) }];
      if (role !== 'user' && role !== 'assistant') return [];
      return [{ role, text: content.map(({ text }) => text).join('') }];
    })
    // Codex describes the surroundings in the name of the user.
    .filter(({ text }) => !/^\s*<\w+_?\w*>/.test(text) || !text.includes('<current_date>'));
  return {
    model,
    effort: reasoning?.effort,
    lines: said
      .filter(({ role }) => role !== 'tool')
      .map(({ role, text }) => `${role}: ${text.trim()}`),
    prompt: said.findLast(({ role }) => role !== 'assistant')?.text.trim() ?? '',
    tools: tools.flatMap(({ name }) => name ?? []),
  };
}
