import { expect, test } from 'vitest';
import { ApiTrouble } from './api.ts';
import { type Connection, follow, type World } from './follow.ts';

const GONE = new ApiTrouble(404, { code: 'no-run', message: 'There is no run.', remedy: 'Look.' });
const DOWN = new ApiTrouble(0, { code: 'unreachable', message: 'No answer.', remedy: '' });

/** Each entry is a connection: what it sends before it breaks, or why it fails. */
async function followed(connections: readonly (readonly string[] | ApiTrouble)[]) {
  const [addresses, waits, events, states]: [string[], number[], string[], Connection[]] = [
    [],
    [],
    [],
    [],
  ];
  let last = '0';
  await new Promise<void>((resolve) => {
    const world: World = {
      async open(address) {
        addresses.push(address);
        const next = connections[addresses.length - 1];
        if (!next) {
          stop();
          resolve();
          throw DOWN;
        }
        if (next instanceof ApiTrouble) throw next;
        return (async function* () {
          yield* next;
        })();
      },
      wait: async (ms) => {
        waits.push(ms);
      },
      tokenHeld: async () => {
        waits.push(Number.POSITIVE_INFINITY);
      },
      now: () => 0,
    };
    const stop = follow(
      {
        address: () => `after=${last}`,
        onEvent: ({ id, data }) => {
          last = id ?? last;
          events.push(data);
          return undefined;
        },
        onConnection: (state) => {
          states.push(state);
          if (state.kind === 'refused') resolve();
        },
      },
      world,
    );
  });
  return { addresses, waits, events, kinds: states.map(({ kind }) => kind), states };
}

test('continues after the last event when the connection breaks', async () => {
  const { addresses, events, kinds } = await followed([
    ['id: 2\ndata: a\n\n', 'id: 3\nda'],
    ['id: 3\ndata: b\n\n'],
  ]);
  expect(addresses).toEqual(['after=0', 'after=2', 'after=3']);
  expect(events).toEqual(['a', 'b']);
  expect(kinds.slice(0, 5)).toEqual(['connecting', 'open', 'lost', 'connecting', 'open']);
});

test('waits longer each time, and briefly again after a success', async () => {
  const { waits } = await followed([DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, [': beat\n\n'], DOWN]);
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 8000, 500, 1000]);
});

test('says that the token is refused, and asks again only when the tab has another one', async () => {
  const unknown = new ApiTrouble(401, { code: 'no-token', message: 'No token.', remedy: '' });
  const { states, events, waits } = await followed([DOWN, DOWN, unknown, DOWN, ['data: a\n\n']]);
  expect(states).toContainEqual({ kind: 'signed-out', trouble: unknown.trouble });
  expect(waits).toEqual([500, 1000, Number.POSITIVE_INFINITY, 500, 500]);
  expect(events).toEqual(['a']);
});

test('does not repeat a request that the server refuses', async () => {
  const { states } = await followed([GONE]);
  expect(states.at(-1)).toEqual({ kind: 'refused', trouble: GONE.trouble });
});
