import { expect, test } from 'vitest';
import { Announcer } from './announcer.ts';

test('sends together what came while a statement was under way', async () => {
  const { sent, answer, announcer } = announcing();
  announcer.add(['events a']);
  announcer.add(['events b', 'events c']);
  announcer.add(['events b']);
  expect(sent).toEqual([['events a']]);
  answer();
  await expect.poll(() => sent).toEqual([['events a'], ['events b', 'events c']]);
});

test('is settled when everything is sent', async () => {
  const { sent, answer, announcer } = announcing();
  await announcer.settled();
  announcer.add(['events a']);
  announcer.add(['events b']);
  const settled = announcer.settled();
  answer();
  await expect.poll(() => sent.length).toBe(2);
  answer();
  await settled;
  announcer.add(['events c']);
  expect(sent.at(-1)).toEqual(['events c']);
});

test('sends the next notices after a failure', async () => {
  const { sent, fail, announcer } = announcing();
  announcer.add(['events a']);
  announcer.add(['events b']);
  fail();
  await expect.poll(() => sent).toEqual([['events a'], ['events b']]);
});

/** An announcer whose statements end when the test says so. */
function announcing() {
  const sent: unknown[] = [];
  let resolve = () => {};
  let reject = (_error: Error) => {};
  const announcer = new Announcer(({ values }) => {
    sent.push(values?.[1]);
    return new Promise<void>((...both) => {
      [resolve, reject] = both;
    });
  });
  return {
    sent,
    announcer,
    answer: () => resolve(),
    fail: () => reject(new Error('The connection was lost.')),
  };
}
