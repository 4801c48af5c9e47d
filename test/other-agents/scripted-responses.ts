// A Responses API on loopback that answers from a test's script and records the conversations.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly model: string;
  readonly effort: string | undefined;
  /** The conversation as the model saw it, without the additions of codex. */
  readonly lines: readonly string[];
  /** The last message of the user. */
  readonly prompt: string;
}

export interface Answer {
  readonly text: string;
  readonly usage?: { readonly input: number; readonly cached: number; readonly output: number };
  /** The answer begins when this is settled. */
  readonly after?: Promise<unknown>;
}

export type Reply =
  | string
  | Answer
  | { readonly status: number; readonly error: Readonly<Record<string, unknown>> };

export type Script = (asked: Asked, turn: number) => Reply;

export interface ScriptedResponses {
  readonly url: string;
  readonly requests: readonly Asked[];
  /** Paths of requests that belong to no conversation. */
  readonly others: readonly string[];
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

export const USAGE = { input: 100, cached: 40, output: 20 };

export async function scriptedResponses(script: Script): Promise<ScriptedResponses> {
  const requests: Asked[] = [];
  const others: string[] = [];
  const arrivals: (() => void)[] = [];
  const server = createServer((request, response) => {
    // Many scripts kill the client during an answer.
    respond(request, response).catch(() => response.destroy());
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (request.url !== '/v1/responses') {
      others.push(request.url ?? '');
      return void response.writeHead(404).end('{}');
    }
    const asked = readAsked(JSON.parse(body));
    requests.push(asked);
    for (const wake of arrivals.splice(0)) wake();
    const reply = script(asked, requests.length - 1);
    if (typeof reply === 'object' && 'status' in reply) {
      response.writeHead(reply.status, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ error: reply.error }));
    }
    await answer(response, typeof reply === 'string' ? { text: reply } : reply, requests.length);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    others,
    async arrived(count) {
      while (requests.length < count) await new Promise<void>((resolve) => arrivals.push(resolve));
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(response: ServerResponse, reply: Answer, number: number): Promise<void> {
  const { input, cached, output } = reply.usage ?? USAGE;
  const id = `resp_${number}`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send(response, { type: 'response.created', response: { id } });
  await reply.after;
  const content = [{ type: 'output_text', text: reply.text }];
  const item = { type: 'message', role: 'assistant', id: `msg_${number}`, content };
  send(response, { type: 'response.output_item.done', output_index: 0, item });
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  send(response, { type: 'response.completed', response: { id, usage } });
  response.end();
}

function send(response: ServerResponse, event: { readonly type: string; [key: string]: unknown }) {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

interface Body {
  readonly model: string;
  readonly reasoning?: { readonly effort?: string };
  readonly input: readonly {
    readonly type: string;
    readonly role?: string;
    readonly content?: readonly { readonly text?: string }[];
  }[];
}

function readAsked({ model, reasoning, input }: Body): Asked {
  const said = input
    .filter(({ role }) => role === 'user' || role === 'assistant')
    .map(({ role, content = [] }) => ({ role, text: content.map(({ text }) => text).join('') }))
    // Codex describes the surroundings in the name of the user.
    .filter(({ text }) => !/^\s*<\w+_?\w*>/.test(text) || !text.includes('<current_date>'));
  return {
    model,
    effort: reasoning?.effort,
    lines: said.map(({ role, text }) => `${role}: ${text.trim()}`),
    prompt: said.findLast(({ role }) => role === 'user')?.text.trim() ?? '',
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
