import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ServerEventReader } from './server-events.ts';

const STREAM =
  ': hello\n\nid: 5\ndata: [1,2]\n\nevent: live\r\ndata: a\r\ndata: b\r\n\r\nid: 7\ndata:ü\n\n: beat\n\n';
const EVENTS = [
  { name: 'message', id: '5', data: '[1,2]' },
  { name: 'live', id: '5', data: 'a\nb' },
  { name: 'message', id: '7', data: 'ü' },
];

test('reads names, ids and data, and ignores heartbeats', () => {
  expect(new ServerEventReader().read(STREAM)).toEqual(EVENTS);
});

test('does not depend on where chunks end', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length)), (ends) => {
      const reader = new ServerEventReader();
      const cuts = [0, ...ends.toSorted((a, b) => a - b), STREAM.length];
      const chunks = cuts.slice(1).map((end, i) => STREAM.slice(cuts[i], end));
      expect(chunks.flatMap((chunk) => reader.read(chunk))).toEqual(EVENTS);
    }),
  );
});

test('an event without its end is not an event yet', () => {
  expect(new ServerEventReader().read('data: half\n')).toEqual([]);
});
