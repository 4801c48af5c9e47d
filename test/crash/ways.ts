import type { RunEvent } from '../../src/model/event.ts';

/** The events of each agent, in order. Interruptions of the run must not change them. */
export type Ways = Readonly<Record<string, readonly unknown[]>>;

export function waysOf(events: readonly RunEvent[]): Ways {
  const ways: Record<string, unknown[]> = {};
  for (const event of events) {
    if (!OF_THE_WAY.test(event.type) || !('agent' in event)) continue;
    const way = ways[event.agent] ?? [];
    way.push(steady(event));
    ways[event.agent] = way;
  }
  return ways;
}

const OF_THE_WAY = /^(agent-(moved|forked|ended|failed|stopped)|question-timed-out|join-reported)$/;

function steady(event: RunEvent): unknown {
  const isSteady = (key: string) => !OTHER_EACH_TIME.has(key);
  return JSON.parse(JSON.stringify(event, (key, value) => (isSteady(key) ? value : undefined)));
}

/** Fields that differ between runs: times, folders, sessions and the order of events of different agents. */
const OTHER_EACH_TIME = new Set(['at', 'cwd', 'workflow', 'seq', 'id', 'from']);
