import { createHash } from 'node:crypto';
import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { follow, watchIdle } from '../../src/execute/process/index.ts';
import { steps, text, until } from './fixtures/steps.ts';

const { path, folder, bash, adopt } = steps();

/** Collects the chunks as they arrive. */
function collect(chunks: AsyncIterable<Buffer>) {
  const seen = { text: '', done: Promise.resolve() };
  seen.done = (async () => {
    for await (const chunk of chunks) seen.text += chunk.toString('latin1');
  })();
  return seen;
}

function promise() {
  let resolve = () => {};
  const settled = new Promise<void>((done) => {
    resolve = done;
  });
  return { settled, resolve };
}

test('output arrives while the process runs, and is complete when it has ended', async () => {
  const step = bash('echo one; until [ -e go ]; do sleep 0.01; done; printf two');
  const seen = collect(follow(step.stdout, { until: step.ended }));
  await until(() => seen.text === 'one\n');
  writeFileSync(path('go'), '');
  await seen.done;
  expect(seen.text).toBe('one\ntwo');
});

test.each([
  ['by the watcher', 1_000_000],
  ['by the timer', 20],
])('growth is noticed %s', async (_, pollMs) => {
  writeFileSync(path('out'), 'a');
  const { settled, resolve } = promise();
  const seen = collect(follow(path('out'), { until: settled, pollMs }));
  for (const expected of ['a', 'ab', 'abb', 'abbb']) {
    await until(() => seen.text === expected);
    appendFileSync(path('out'), 'b');
  }
  resolve();
  await seen.done;
  expect(seen.text).toBe('abbbb');
});

test('text written just before the end is delivered, even if the end is an error', async () => {
  writeFileSync(path('out'), '');
  let fail = (_: Error) => {};
  const failing = new Promise((_, reject) => {
    fail = reject;
  });
  const seen = collect(follow(path('out'), { until: failing, pollMs: 1_000_000 }));
  await nextTurn();
  appendFileSync(path('out'), 'last words');
  fail(new Error('gone'));
  await seen.done;
  expect(seen.text).toBe('last words');
});

test('the output of an adopted process can be followed from a given offset', async () => {
  const here = folder();
  const step = bash('printf 12345; until [ -e go ]; do sleep 0.01; done; printf 678', {
    folder: here,
  });
  await until(() => text(step.stdout.path) === '12345');
  const adopted = adopt(here);
  if (adopted === undefined) throw new Error('not found');
  const seen = collect(follow(adopted.stdout, { from: 3, until: adopted.ended }));
  await until(() => seen.text === '45');
  writeFileSync(path('go'), '');
  await seen.done;
  expect(seen.text).toBe('45678');
});

test('a file that was truncated is read again from its beginning', async () => {
  writeFileSync(path('out'), 'old words');
  const { settled, resolve } = promise();
  const seen = collect(follow(path('out'), { until: settled, pollMs: 10 }));
  await until(() => seen.text === 'old words');
  truncateSync(path('out'));
  appendFileSync(path('out'), 'new');
  await until(() => seen.text === 'old wordsnew');
  resolve();
  await seen.done;
});

test('the reader can stop before the end', async () => {
  const step = bash('yes');
  for await (const chunk of follow(step.stdout, { until: step.ended })) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  await step.stop();
});

test('a slow reader gets 50 MB unchanged and with constant memory', async () => {
  const bytes = 50_000_000;
  const step = bash(`yes 'all work and no play' | head -c ${bytes}`);
  const hash = createHash('sha256');
  let length = 0;
  let chunks = 0;
  let peak = 0;
  const before = used();
  for await (const chunk of follow(step.stdout, { until: step.ended })) {
    hash.update(chunk);
    length += chunk.length;
    if (++chunks % 50 === 0) {
      await nextTurn();
      peak = Math.max(peak, used());
    }
  }
  const line = Buffer.from('all work and no play\n');
  const whole = Buffer.alloc(bytes, line);
  expect(length).toBe(bytes);
  expect(hash.digest('hex')).toBe(createHash('sha256').update(whole).digest('hex'));
  expect(peak - before).toBeLessThan(bytes / 5);
});

/** The memory in use after garbage collection. */
function used(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('a silent process is noticed and stopped', async () => {
  const step = bash('echo begin; exec sleep 300');
  const files = [step.stdout.path, step.stderr.path];
  await until(() => text(step.stdout.path) === 'begin\n');
  await new Promise<void>((onIdle) => watchIdle({ files, idleTimeoutMs: 200, onIdle }));
  expect(await step.stop()).toEqual([]);
  expect(await step.ended).toEqual({ kind: 'exited', code: 130 });
});

test('a process that writes only to standard error is not silent', async () => {
  const step = bash('for i in {1..40}; do echo $i >&2; sleep 0.05; done');
  // On a busy machine it may really write nothing for so long.
  let silentMs = Number.POSITIVE_INFINITY;
  const end = watchIdle({
    files: [step.stdout.path, step.stderr.path],
    idleTimeoutMs: 1500,
    onIdle: () => {
      silentMs = Date.now() - statSync(step.stderr.path).mtimeMs;
    },
  });
  expect(await step.ended).toEqual({ kind: 'exited', code: 0 });
  end();
  expect(silentMs).toBeGreaterThan(1000);
});
