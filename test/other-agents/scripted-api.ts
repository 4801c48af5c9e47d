// An API of a model on loopback that answers from a test's script and records the conversations.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly model: string;
  readonly effort: string | undefined;
  /** The conversation as the model saw it, without the additions of the agent. */
  readonly lines: readonly string[];
  /** The last message of the user, or the result of the last tool call. */
  readonly prompt: string;
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[];
}

export interface ToolCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly text: string;
  /** Sent before everything else. Only a chat completions API does it. */
  readonly beginning?: string;
  readonly tool?: ToolCall;
  readonly usage?: Tokens;
  /** The answer begins when this is settled. */
  readonly after?: Promise<unknown>;
}

/** Cached tokens are part of the input. */
export interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export type Reply =
  | string
  | Answer
  | { readonly status: number; readonly error: Readonly<Record<string, unknown>> };

export type Script = (asked: Asked, turn: number) => Reply;

export interface ScriptedApi {
  /** Without a path. */
  readonly origin: string;
  readonly requests: readonly Asked[];
  /** Paths of requests that belong to no conversation. */
  readonly others: readonly string[];
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

/** The form in which one provider is asked and answers. */
export interface Wire {
  /** Undefined if the request belongs to no conversation. */
  read(path: string, body: unknown): Asked | undefined;
  answer(response: ServerResponse, reply: Answer, number: number): Promise<void>;
}

export const USAGE: Tokens = { input: 100, cached: 40, output: 20 };

export async function scriptedApi(wire: Wire, script: Script): Promise<ScriptedApi> {
  const requests: Asked[] = [];
  const others: string[] = [];
  const arrivals: (() => void)[] = [];
  const server = createServer((request, response) => {
    // Many scripts kill the client during an answer.
    respond(request, response).catch(() => response.destroy());
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const asked = body === '' ? undefined : wire.read(request.url ?? '', JSON.parse(body));
    if (!asked) {
      others.push(request.url ?? '');
      return void response.writeHead(404).end('{}');
    }
    if (TITLE.test(asked.lines[0] ?? '')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await wire.answer(response, { text: 'A title' }, 0);
      return void response.end();
    }
    requests.push(asked);
    for (const wake of arrivals.splice(0)) wake();
    const reply = script(asked, requests.length - 1);
    if (typeof reply === 'object' && 'status' in reply) {
      response.writeHead(reply.status, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ error: reply.error }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await wire.answer(
      response,
      typeof reply === 'string' ? { text: reply } : reply,
      requests.length,
    );
    response.end();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
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

/** Some agents ask for a title of each conversation. It is no part of the conversation. */
const TITLE = /^user: (?:Generate a title|Your task is to generate a very short title)/;

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
