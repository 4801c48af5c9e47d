/** `raymond serve` as a process of its own, and requests to it. */
import { eventually } from '../eventually.ts';
import type { Project, Started } from '../raymond.ts';

export interface Served {
  readonly process: Started;
  readonly origin: string;
  readonly token: string;
  get(path: string): Promise<{ readonly status: number; readonly body: unknown }>;
  post(path: string, body: object): Promise<{ readonly status: number; readonly body: unknown }>;
  /** The events of a stream, until the caller stops reading. */
  stream(path: string, lastEventId?: string): AsyncGenerator<SentEvent>;
}

export interface SentEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

export async function served(project: Project, env: Record<string, string> = {}): Promise<Served> {
  const process = project.start(['serve', '--port', '0', '--json'], { env });
  await eventually('the server has printed its address', () => process.stdout().includes('\n'));
  const { port, token } = JSON.parse(process.stdout());
  const origin = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${token}`, origin };
  const answerOf = async (response: Response) => {
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    process,
    origin,
    token,
    get: async (path) => answerOf(await fetch(origin + path, { headers })),
    post: async (path, body) =>
      answerOf(
        await fetch(origin + path, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
    async *stream(path, lastEventId) {
      const leaving = new AbortController();
      const more = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      const response = await fetch(origin + path, {
        headers: { ...headers, ...more },
        signal: leaving.signal,
      });
      if (!response.ok || !response.body) throw new Error(await response.text());
      try {
        yield* eventsIn(response.body);
      } finally {
        leaving.abort();
      }
    },
  };
}

async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of body) {
    const blocks = (rest + decoder.decode(part, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n').map((line) => /^(\w+): (.*)$/s.exec(line) ?? []);
      const fields = new Map(lines.map(([, name = '', value = '']) => [name, value]));
      yield {
        event: fields.get('event') ?? 'message',
        id: fields.get('id'),
        data: JSON.parse(fields.get('data') ?? 'null'),
      };
    }
  }
}
