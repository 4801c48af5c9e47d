/** Agents in the order of what a person has to know: failed, waiting for a person, running, the rest. */
import type { AgentShape, AgentStatusShape } from '../../src/look/run-shape.ts';
import { counted, elapsed, msOf, oneLine } from '../lib/words.ts';

export function sortedAgents(agents: readonly AgentShape[], words: string): readonly AgentShape[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = wanted.length === 0 ? agents : agents.filter((agent) => hasWords(agent, wanted));
  return matching.toSorted((a, b) => rankOf(a.status) - rankOf(b.status));
}

/** A failure that a join has reported is a matter of the past. */
export function rankOf(status: AgentStatusShape): number {
  if (status.kind === 'failed' && status.joined) return ORDER.stopped;
  if (status.kind === 'running' && status.requests.length > 0) return ORDER.asking;
  return ORDER[status.kind];
}

const ORDER: Readonly<Record<AgentStatusShape['kind'], number>> = {
  failed: 0,
  asking: 1,
  waiting: 2,
  running: 3,
  ready: 4,
  joining: 5,
  stopped: 7,
  ended: 8,
};

function hasWords(agent: AgentShape, wanted: readonly string[]): boolean {
  const parts = [agent.id, agent.state, agent.status.kind, variablesText(agent)];
  const text = parts.join(' ').toLowerCase();
  return wanted.every((word) => text.includes(word));
}

/** A few letters that tell an agent from its siblings: the value of its first variable, or the end of its name. */
export function shortName({ id, variables }: Pick<AgentShape, 'id' | 'variables'>): string {
  const [value = ''] = Object.values(variables);
  return oneLine(value.trim() || (id.split('_').at(-1) ?? id), 14);
}

export function variablesText({ variables }: AgentShape): string {
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return oneLine(pairs.join(' '), 120);
}

/** What an agent waits for, or how it ended. */
export function agentTold({ status, parent }: AgentShape, now: number, isWorkedOn = true): string {
  switch (status.kind) {
    case 'ready':
      return isWorkedOn ? 'starts its next step soon' : 'continues when the run is resumed';
    case 'running':
      if (status.requests[0]) return `wants to use ${oneLine(status.requests[0].tool, 60)}`;
      if (status.queued) return `waits for a worker for ${elapsed(now - msOf(status.since))}`;
      return `${status.prompt ? 'works' : 'runs a script'} for ${elapsed(now - msOf(status.since))}`;
    case 'waiting':
      return `retries in ${elapsed(msOf(status.until) - now)}: ${oneLine(status.failure.message)}`;
    case 'asking':
      return oneLine(status.question);
    case 'joining':
      return `waits for ${status.open} of ${counted(status.workers.length, 'child agent')}`;
    case 'failed':
      return oneLine(status.failure.message);
    case 'ended':
      return oneLine(status.result.text) || 'no result';
    case 'stopped':
      return status.by === 'rewind'
        ? 'taken back by a rewind'
        : `stopped by the join of ${oneLine(parent ?? 'its parent')}`;
  }
}
