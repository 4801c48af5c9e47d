/** The agents on the graph. A mark glides when its agent moves to another state. */
import type { RunGraph } from '../../src/draw/run-graph.ts';
import { visible } from '../lib/words.ts';
import type { Tone } from './status.tsx';

type Node = RunGraph['nodes'][number];
type AgentAt = Node['agents'][number];

interface Props {
  readonly graph: RunGraph;
  /** The agents that wait for a permission. */
  readonly waiting: ReadonlySet<string>;
  readonly onAgent: (agent: string) => void;
}

export function GraphAgents({ graph, waiting, onAgent }: Props) {
  const toneOf = ({ id, status }: AgentAt) => (waiting.has(id) ? 'wait' : TONES[status]);
  const crowded = graph.nodes.filter(({ agents }) => agents.length > MOST);
  const marks = graph.nodes.flatMap((node) =>
    byUrgency(node.agents, toneOf)
      .slice(0, MOST)
      .map((agent, index) => ({ agent, ...placeOf(node, index) })),
  );
  return (
    <g class="agents">
      {marks
        .toSorted((a, b) => (a.agent.id < b.agent.id ? -1 : 1))
        .map(({ agent, x, y }) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: it repeats a link of that list.
          <g
            key={agent.id}
            class={`agent tone-${toneOf(agent)}`}
            style={{ transform: `translate(${x}px, ${y}px)` }}
            onClick={(event) => event.defaultPrevented || onAgent(agent.id)}
          >
            <title>{`${visible(agent.id)}: ${waiting.has(agent.id) ? 'asks permission' : agent.status}`}</title>
            <circle class="halo" r="8" />
            <circle r="8" />
            <text class="letter" y="3">
              {initial(agent.id)}
            </text>
          </g>
        ))}
      {crowded.map((node) => {
        const { x, y } = placeOf(node, MOST);
        return (
          <text key={node.id} class="crowd" x={x + 6} y={y + 4}>
            +{node.agents.length - MOST}
          </text>
        );
      })}
    </g>
  );
}

/** More would cover the arrow of the entry. */
const MOST = 3;

/** On the upper edge of the box, from the right. */
function placeOf({ x, y, width, height }: Node, index: number) {
  return { x: x + width / 2 - 10 - index * 18, y: y - height / 2 };
}

const TONES: Readonly<Record<AgentAt['status'], Tone>> = {
  ready: 'rest',
  running: 'run',
  deciding: 'run',
  waiting: 'wait',
  asking: 'wait',
  joining: 'rest',
  failed: 'fail',
};
const URGENCY: readonly Tone[] = ['fail', 'wait', 'run', 'rest', 'done'];

function byUrgency(
  agents: readonly AgentAt[],
  toneOf: (agent: AgentAt) => Tone,
): readonly AgentAt[] {
  const rank = (agent: AgentAt) => URGENCY.indexOf(toneOf(agent));
  return agents.toSorted((a, b) => rank(a) - rank(b));
}

/** The number of a child, or the first letter. */
function initial(id: string): string {
  const number = /(\d{1,2})$/.exec(id)?.[1];
  return number ?? visible(id).slice(0, 1).toUpperCase();
}
