// A Messages API on loopback that answers from a test's script and records the requests.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ModelRequest, readRequest } from './model-request.ts';

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | {
      readonly type: 'tool_use';
      readonly id?: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    };

export interface Usage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly cache_read_input_tokens?: number;
}

export interface Answer {
  readonly content: string | readonly Block[];
  readonly usage?: Usage;
  /** Replaces the stop reason that follows from the blocks. */
  readonly stopReason?: string;
  /** The answer begins when this is settled. */
  readonly after?: Promise<unknown>;
  /** The first half of the text is sent; the rest when this is settled. */
  readonly pause?: Promise<unknown>;
}

/** A fault instead of an answer. */
export type Fault =
  | {
      readonly fault: 'http';
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly fault: 'reset' }
  | { readonly fault: 'dropped' }
  | { readonly fault: 'malformed' };

export type Reply = string | Answer | Fault;
export type Script = readonly Reply[] | ((request: ModelRequest, turn: number) => Reply);

export interface ScriptedModel {
  readonly url: string;
  /** Requests of conversations, in order of arrival. */
  readonly requests: readonly ModelRequest[];
  /** Requests that Claude Code makes for itself: titles, quota checks, summaries. */
  readonly sideRequests: readonly ModelRequest[];
  /** Resolves when this number of conversation requests has arrived. */
  arrived(count: number): Promise<ModelRequest>;
  close(): Promise<void>;
}

/**
 * Uses the replies of a list in order, and repeats the last one. `sideUsage` is what the requests cost
 * that belong to no conversation.
 */
export async function scriptedModel(script: Script, sideUsage: Usage = {}): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const sideRequests: ModelRequest[] = [];
  const arrivals: (() => void)[] = [];

  const server = createServer((request, response) => {
    // Many scripts kill the client during an answer.
    respond(request, response).catch(() => response.destroy());
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?')[0];
    if (request.method === 'HEAD') return void response.writeHead(200).end();
    const body = await readBody(request);
    if (path === '/v1/messages/count_tokens') return sendJson(response, 200, { input_tokens: 1 });
    if (path !== '/v1/messages') return sendJson(response, 404, errorBody('not_found_error', path));

    const asked = readRequest(body);
    if (asked.purpose === 'side') {
      sideRequests.push(asked);
      return answer(response, asked, { content: 'ok', usage: sideUsage });
    }
    requests.push(asked);
    for (const wake of arrivals.splice(0)) wake();
    const turn = requests.length - 1;
    await play(response, asked, pick(script, asked, turn));
  }

  const url = await listen(server);
  return {
    url,
    requests,
    sideRequests,
    async arrived(count) {
      for (;;) {
        const found = requests[count - 1];
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => arrivals.push(resolve));
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A port without a listener, so that connections are refused. */
export const closedPort = 'http://127.0.0.1:1';

export const faults = {
  unauthorized: httpFault(401, 'authentication_error', 'invalid x-api-key'),
  forbidden: httpFault(403, 'permission_error', 'Your account is not allowed to do this.'),
  noCredit: httpFault(
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ),
  badRequest: httpFault(400, 'invalid_request_error', 'messages: at least one is required'),
  tooLong: httpFault(
    400,
    'invalid_request_error',
    'prompt is too long: 250000 tokens > 200000 maximum',
  ),
  unknownModel: httpFault(404, 'not_found_error', 'model: no-such-model'),
  internal: httpFault(500, 'api_error', 'Internal server error'),
  overloaded: httpFault(529, 'overloaded_error', 'Overloaded'),
  dropped: { fault: 'dropped' },
  malformed: { fault: 'malformed' },
  reset: { fault: 'reset' },
} satisfies Record<string, Fault>;

export function rateLimited(headers: Readonly<Record<string, string>> = {}): Fault {
  return {
    ...httpFault(429, 'rate_limit_error', "This request would exceed your account's rate limit."),
    headers,
  };
}

function httpFault(status: number, type: string, message: string) {
  return { fault: 'http', status, type, message } as const;
}

function pick(script: Script, request: ModelRequest, turn: number): Reply {
  if (typeof script === 'function') return script(request, turn);
  const reply = script[Math.min(turn, script.length - 1)];
  if (reply === undefined) throw new Error('The script of the model has no replies.');
  return reply;
}

async function play(response: ServerResponse, asked: ModelRequest, reply: Reply): Promise<void> {
  if (typeof reply === 'string') return answer(response, asked, { content: reply });
  if (!('fault' in reply)) return answer(response, asked, reply);
  switch (reply.fault) {
    case 'http':
      return sendJson(response, reply.status, errorBody(reply.type, reply.message), reply.headers);
    case 'reset':
      return reset(response.socket);
    case 'dropped':
      openStream(response, asked, {});
      send(response, { type: 'content_block_start', index: 0, content_block: emptyText });
      send(response, { type: 'content_block_delta', index: 0, delta: textDelta('half an ans') });
      return void setImmediate(() => reset(response.socket));
    case 'malformed':
      openStream(response, asked, {});
      return void response.end('event: content_block_start\ndata: {"type": "content_bl\n\n');
  }
}

function reset(socket: Socket | null): void {
  socket?.resetAndDestroy();
}

const emptyText = { type: 'text', text: '' };

function textDelta(text: string) {
  return { type: 'text_delta', text };
}

async function answer(response: ServerResponse, asked: ModelRequest, reply: Answer): Promise<void> {
  await reply.after;
  const blocks: readonly Block[] =
    typeof reply.content === 'string' ? [{ type: 'text', text: reply.content }] : reply.content;
  if (!asked.isStreamed)
    return sendJson(response, 200, {
      ...wholeMessage(asked, blocks, reply.usage ?? {}),
      ...(reply.stopReason !== undefined && { stop_reason: reply.stopReason }),
    });

  openStream(response, asked, reply.usage ?? {});
  for (const [index, block] of blocks.entries()) {
    send(response, { type: 'content_block_start', index, content_block: emptied(block) });
    const [first, second] = deltas(block);
    send(response, { type: 'content_block_delta', index, delta: first });
    await reply.pause;
    send(response, { type: 'content_block_delta', index, delta: second });
    send(response, { type: 'content_block_stop', index });
  }
  send(response, {
    type: 'message_delta',
    delta: { stop_reason: reply.stopReason ?? stopReason(blocks), stop_sequence: null },
    usage: usage(reply.usage ?? {}),
  });
  send(response, { type: 'message_stop' });
  response.end();
}

function openStream(response: ServerResponse, asked: ModelRequest, counted: Usage): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'request-id': `req_${nextId()}`,
  });
  const message = { ...wholeMessage(asked, [], counted), stop_reason: null };
  send(response, { type: 'message_start', message });
}

interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function send(response: ServerResponse, event: StreamEvent): void {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function emptied(block: Block): object {
  if (block.type === 'text') return emptyText;
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { type: 'tool_use', id: block.id ?? `toolu_${nextId()}`, name: block.name, input: {} };
}

function deltas(block: Block): [object, object] {
  const [whole, delta] = streamed(block);
  const half = Math.floor(whole.length / 2);
  return [delta(whole.slice(0, half)), delta(whole.slice(half))];
}

function streamed(block: Block): [string, (part: string) => object] {
  switch (block.type) {
    case 'text':
      return [block.text, textDelta];
    case 'thinking':
      return [block.thinking, (thinking) => ({ type: 'thinking_delta', thinking })];
    case 'tool_use':
      return [
        JSON.stringify(block.input),
        (partial_json) => ({ type: 'input_json_delta', partial_json }),
      ];
  }
}

function wholeMessage(asked: ModelRequest, blocks: readonly Block[], counted: Usage): object {
  return {
    id: `msg_${nextId()}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: blocks.map((block) =>
      block.type === 'tool_use' ? { ...block, id: block.id ?? `toolu_${nextId()}` } : block,
    ),
    stop_reason: stopReason(blocks),
    stop_sequence: null,
    usage: usage(counted),
  };
}

function stopReason(blocks: readonly Block[]): string {
  return blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn';
}

function usage(counted: Usage): Required<Usage> {
  return {
    input_tokens: 10,
    output_tokens: 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    ...counted,
  };
}

let ids = 0;
function nextId(): string {
  ids += 1;
  return `${process.pid}_${ids}`;
}

function errorBody(type: string, message: string | undefined): object {
  return { type: 'error', error: { type, message: message ?? '' } };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'request-id': `req_${nextId()}`,
    ...headers,
  });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return `http://127.0.0.1:${address.port}`;
}
