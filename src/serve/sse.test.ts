import { expect, test } from 'vitest';
import { Bell, eventText, type ServerEvent, Streams } from './sse.ts';

/** Counts the events that were made. */
function counting() {
  const made = { count: 0, isOver: false };
  async function* source(signal: AbortSignal): AsyncGenerator<ServerEvent> {
    try {
      while (!signal.aborted) {
        made.count += 1;
        yield { id: `${made.count}`, data: [made.count] };
      }
    } finally {
      made.isOver = true;
    }
  }
  return { made, source };
}

test('an event is made when the one before it was taken', async () => {
  const streams = new Streams(2, 60_000);
  const { made, source } = counting();
  const reader = streams.open(source).getReader();
  const first = await reader.read();
  expect(new TextDecoder().decode(first.value)).toBe('id: 1\ndata: [1]\n\n');
  expect(made.count).toBe(1);
  await reader.read();
  expect(made.count).toBe(2);
  await reader.cancel();
  expect(made.isOver).toBe(true);
  expect(streams.size).toBe(0);
});

test('the number of streams is limited, and each that ends makes room', async () => {
  const streams = new Streams(2, 60_000);
  const [one, two] = [streams.open(counting().source), streams.open(counting().source)];
  expect(streams.isFull).toBe(true);
  await one.cancel();
  expect(streams.isFull).toBe(false);
  const reader = two.getReader();
  await reader.read();
  streams.close();
  expect(await reader.read()).toMatchObject({ done: true });
  expect(streams.size).toBe(0);
});

test('a client that stops reading is let go', async () => {
  const streams = new Streams(1, 1);
  const { made, source } = counting();
  const reader = streams.open(source).getReader();
  await reader.read();
  await expect(reader.closed).rejects.toThrow('stopped reading');
  expect(streams.size).toBe(0);
  expect(made.count).toBe(1);
});

test('an error of the source ends the stream', async () => {
  const streams = new Streams(1, 60_000);
  const reader = streams
    .open(async function* () {
      yield { data: 1 };
      throw new Error('broken');
    })
    .getReader();
  await reader.read();
  await expect(reader.read()).rejects.toThrow('broken');
  expect(streams.size).toBe(0);
});

test('no text adds a line', () => {
  const text = 'a\n\ndata: b\r\nid: 9\u2028';
  expect(eventText({ event: 'now', data: { text } })).toBe(
    `event: now\ndata: ${JSON.stringify({ text })}\n\n`,
  );
});

test('a bell that has rung does not wait', async () => {
  const over = new AbortController();
  const bell = new Bell(over.signal);
  bell.ring();
  await bell.wait(60_000);
  over.abort();
  await bell.wait(60_000);
});
