/**
 * The conversation with the process of an agent, over its files: its output is read from a file, and its
 * input is a FIFO. So it outlives this process, and a later Raymond process continues it.
 */
import { lineReader } from '../lines.ts';
import { follow, type LaunchedProcess } from '../process/index.ts';
import { LATE, within } from '../within.ts';
import {
  type Id,
  type Incoming,
  notificationLine,
  type RpcError,
  readMessage,
  requestLine,
  resultLine,
  unknownMethodLine,
} from './protocol.ts';

/** The process ended, or its output cannot be read, before it answered. */
export class Disconnected extends Error {}

/** The agent answered a request with an error. */
export class Refused extends Error {
  readonly error: RpcError;
  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

interface Listener {
  /** A request or a notification of the agent; `end` is the offset after it. */
  incoming(message: Extract<Incoming, { kind: 'request' | 'notification' }>): void;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export class Connection {
  readonly #launched: LaunchedProcess;
  readonly #waiting = new Map<Id, Waiting>();
  readonly #listeners = new Set<Listener>();
  #nextId: number;
  #offset: number;
  #isOver = false;
  /** Settles when the process has ended and its output is read. */
  readonly over: Promise<void>;

  /** An adopted process has had requests before, so its ids begin higher. */
  constructor(launched: LaunchedProcess, from = 0, firstId = 1) {
    this.#launched = launched;
    this.#offset = from;
    this.#nextId = firstId;
    this.over = this.#read(from).finally(() => this.#end());
  }

  /** The offset in the output after the newest message. */
  get offset(): number {
    return this.#offset;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  newId(): number {
    this.#nextId += 1;
    return this.#nextId - 1;
  }

  /** Rejects with `Refused` or `Disconnected`. */
  request(method: string, params: object, timeoutMs?: number): Promise<unknown> {
    const id = this.newId();
    const answer = this.answerTo(id);
    void this.send(requestLine(id, method, params));
    return timeoutMs === undefined ? answer : answeredWithin(answer, method, timeoutMs);
  }

  /** The answer to a request, which an earlier Raymond process may have sent. */
  answerTo(id: Id): Promise<unknown> {
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.#isOver) reject(new Disconnected());
      else this.#waiting.set(id, { resolve, reject });
    });
    // A caller that has given up does not look at the answer.
    answer.catch(() => {});
    return answer;
  }

  /** Whether the answer to a request has been read, or is not waited for. */
  isAnswered(id: Id): boolean {
    return !this.#waiting.has(id);
  }

  notify(method: string, params: object): void {
    void this.send(notificationLine(method, params));
  }

  answer(id: Id, result: object): void {
    void this.send(resultLine(id, result));
  }

  /** Resolves when the line is on its way: the process reads it even if this one dies. */
  send(line: string): Promise<void> {
    const { fifo, stdin } = this.#launched;
    const input = fifo ?? stdin;
    if (!input || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      input.write(line, () => resolve());
    });
  }

  async #read(from: number): Promise<void> {
    const read = lineReader(from);
    const { stdout, ended } = this.#launched;
    try {
      for await (const chunk of follow(stdout, { from, until: ended })) {
        for (const { text, end } of read(chunk)) {
          this.#offset = end;
          const message = readMessage(text);
          if (message) this.#handle(message);
        }
      }
    } catch {
      // The output cannot be read, so nothing more will be answered.
    }
  }

  #handle(message: Incoming): void {
    switch (message.kind) {
      case 'response':
        this.#settle(message.id)?.resolve(message.result);
        return;
      case 'error':
        this.#settle(message.id)?.reject(new Refused(message.error));
        return;
      case 'request':
        if (message.method !== 'session/request_permission')
          void this.send(unknownMethodLine(message.id, message.method));
        break;
      case 'notification':
    }
    for (const listener of this.#listeners) listener.incoming(message);
  }

  #settle(id: Id): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #end(): void {
    this.#isOver = true;
    for (const { reject } of this.#waiting.values()) reject(new Disconnected());
    this.#waiting.clear();
  }
}

async function answeredWithin<T>(answer: Promise<T>, method: string, timeoutMs: number) {
  const result = await within(answer, timeoutMs);
  if (result !== LATE) return result;
  throw new Disconnected(`It did not answer ${method} within ${timeoutMs / 1000} s.`);
}
