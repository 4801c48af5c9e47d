/**
 * The HTTP listener for deliveries. Anyone may reach it, so everything that a sender can make grow has a limit:
 * headers, bodies, the memory of all bodies, connections, and time. It knows no webhook: a complete body goes to
 * `receive`, and its reply goes back.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { DeliveryHeaders } from './verify-delivery.ts';

export interface ReceivedRequest {
  /** Without the query. */
  readonly path: string;
  readonly headers: DeliveryHeaders;
  readonly body: Buffer;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

export type Receive = (request: ReceivedRequest) => Promise<Reply>;

export interface ListenerLimits {
  readonly bodyBytes: number;
  /** Of all bodies that are being read or handled. */
  readonly memoryBytes: number;
  readonly connections: number;
  readonly headersMs: number;
  readonly requestMs: number;
}

const MIB = 1024 * 1024;

const LIMITS: ListenerLimits = {
  bodyBytes: MIB,
  memoryBytes: 64 * MIB,
  connections: 1_500,
  headersMs: 10_000,
  requestMs: 30_000,
};

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface RunningListener {
  /** The real one, also if any port was asked for. */
  readonly address: ListenAddress;
  /** Takes no new deliveries, and replies to those that have come. */
  close(): Promise<void>;
}

/** Rejects with the error of the system if the address cannot be used. */
export async function startListener(
  { host, port }: ListenAddress,
  receive: Receive,
  given: Partial<ListenerLimits> = {},
): Promise<RunningListener> {
  const limits = { ...LIMITS, ...given };
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    // Longer than a proxy keeps its connections, so that it never uses one that is being closed.
    keepAliveTimeout: 75_000,
    // Node looks for slow requests only so often.
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
  });
  server.maxConnections = limits.connections;
  const memory = new Memory(limits.memoryBytes);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // Otherwise a connection that is kept for further requests would keep the listener.
    response.on('close', () => server.listening || server.closeIdleConnections());
    void answer(request, response, receive, limits.bodyBytes, memory);
  });
  server.on('clientError', refuseMalformed);
  await listening(server, host, port);
  const { port: real } = server.address() as AddressInfo;
  return { address: { host, port: real }, close: () => closed(server, limits.requestMs) };
}

/** The bytes of all bodies. */
class Memory {
  readonly #most: number;
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(bytes: number): boolean {
    if (this.#used + bytes > this.#most) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  receive: Receive,
  mostBytes: number,
  memory: Memory,
): Promise<void> {
  let taken = 0;
  const take = (bytes: number) => {
    if (!memory.take(bytes)) return false;
    taken += bytes;
    return true;
  };
  try {
    const read = await bodyOf(request, mostBytes, take);
    const reply = Buffer.isBuffer(read) ? await handled(request, read, receive) : read;
    send(response, reply);
  } catch {
    // The sender has gone, or was too slow.
    response.destroy();
  } finally {
    memory.give(taken);
  }
}

/** The body, or why it is not taken. What is too much is read and forgotten, so that the sender sees the reply. */
async function bodyOf(
  request: IncomingMessage,
  mostBytes: number,
  take: (bytes: number) => boolean,
): Promise<Buffer | Reply> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let refusal = refusedByHead(request, mostBytes);
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > mostBytes) refusal ??= tooLarge(mostBytes);
    else if (!refusal && !take(part.length)) refusal = BUSY;
    if (refusal) parts = [];
    else parts.push(part);
    if (bytes > FORGOTTEN_BYTES) break;
  }
  return refusal ?? Buffer.concat(parts);
}

const FORGOTTEN_BYTES = 32 * MIB;

function refusedByHead({ method, headers }: IncomingMessage, mostBytes: number): Reply | undefined {
  if (method !== 'POST') return NOT_POST;
  if (Number(headers['content-length'] ?? 0) > mostBytes) return tooLarge(mostBytes);
  // A page of a browser cannot send this type to another site without asking, and it is never allowed to.
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? ''))
    return NOT_JSON;
  return headers['content-encoding'] === undefined ? undefined : NOT_JSON;
}

async function handled(
  { url = '/', headers }: IncomingMessage,
  body: Buffer,
  receive: Receive,
): Promise<Reply> {
  try {
    return await receive({ path: url.replace(/\?.*/s, ''), headers, body });
  } catch {
    return NOT_TAKEN;
  }
}

function send(response: ServerResponse, { status, body }: Reply): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    ...HEADERS,
    'content-length': Buffer.byteLength(text),
    ...(status === 405 && { allow: 'POST' }),
    ...(status === 503 && { 'retry-after': '10' }),
  });
  response.end(text);
}

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** The reply to a request that is not HTTP, is too slow, or has too large headers. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, reason, reply } = MALFORMED[error.code ?? ''] ?? NOT_HTTP;
  const text = `${JSON.stringify(reply.body)}\n`;
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  // The sender may never read it.
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1_024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closed(server: Server, patienceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const patience = setTimeout(() => server.closeAllConnections(), patienceMs);
    server.close(() => {
      clearTimeout(patience);
      resolve();
    });
  });
}

/** A refusal in the form of all errors of Raymond. */
export function refusal(status: number, code: string, message: string, remedy: string): Reply {
  return { status, body: { error: { code, message, remedy } } };
}

const tooLarge = (bytes: number) =>
  refusal(413, 'too-large', `The body is larger than ${bytes} bytes.`, 'Send less.');

const NOT_POST = refusal(405, 'not-post', 'Deliveries are sent with POST.', 'Use POST.');

const NOT_JSON = refusal(
  415,
  'not-json',
  'The delivery is not sent as JSON.',
  'Let the sender use the content type application/json, uncompressed.',
);

const BUSY = refusal(503, 'busy', 'Too many deliveries came together.', 'Send it again later.');

const NOT_TAKEN = refusal(
  503,
  'not-taken',
  'Raymond could not record the delivery.',
  'Send it again later. The log of raymond up has the details.',
);

const NOT_HTTP = {
  status: 400,
  reason: 'Bad Request',
  reply: refusal(400, 'bad-request', 'The request is not valid HTTP.', 'Use HTTP/1.1.'),
};

const MALFORMED: Readonly<Record<string, typeof NOT_HTTP>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    reply: refusal(431, 'too-large', 'The headers are too large.', 'Send at most 16 KiB.'),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    reply: refusal(408, 'too-slow', 'The request came too slowly.', 'Send it again, faster.'),
  },
};
