/** The agents on the graph. A mark glides when its agent moves to another state. */
import type { ShownGraph } from '../../src/draw/arrange.ts';
import { visible } from '../lib/words.ts';
import type { Tone } from './status.tsx';

type Node = ShownGraph['nodes'][number];
type AgentAt = Node['agents'][number];

interface Props {
  readonly graph: ShownGraph;
  /** The agents that wait for a permission. */
  readonly waiting: ReadonlySet<string>;
  /** What tells the agents apart, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  readonly followed: string | undefined;
  readonly onAgent: (agent: string) => void;
}

export function GraphAgents({ graph, waiting, names, followed, onAgent }: Props) {
  const toneOf = ({ id, status }: AgentAt) => (waiting.has(id) ? 'wait' : TONES[status]);
  const crowds = graph.nodes.flatMap((node) => {
    const crowd = placed(node, byUrgency(node.agents, toneOf), names, followed);
    return crowd.marks.length > 0 ? [{ node, ...crowd }] : [];
  });
  const marks = crowds.flatMap((crowd) => crowd.marks);
  return (
    <g class="agents">
      {marks
        .toSorted((a, b) => (a.agent.id < b.agent.id ? -1 : 1))
        .map(({ agent, name, x, y, width }) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: it repeats a link of that list.
          <g
            key={agent.id}
            class={`agent tone-${toneOf(agent)} ${agent.id === followed ? 'followed' : ''}`}
            style={{ transform: `translate(${x}px, ${y}px)` }}
            onClick={(event) => event.defaultPrevented || onAgent(agent.id)}
          >
            <title>{`${visible(agent.id)}: ${waiting.has(agent.id) ? 'asks permission' : agent.status}`}</title>
            <rect class="halo" x={-width / 2} y="-9" width={width} height="18" rx="9" />
            <rect class="plate" x={-width / 2} y="-9" width={width} height="18" rx="9" />
            <text class="letter" y="3.5">
              {name}
            </text>
          </g>
        ))}
      {crowds.map(({ node, left, more }) =>
        more === 0 ? null : (
          <text key={node.id} class="crowd" x={left} y={node.y - node.height / 2 + 4}>
            +{more}
          </text>
        ),
      )}
    </g>
  );
}

interface Crowd {
  readonly marks: readonly {
    readonly agent: AgentAt;
    readonly name: string;
    readonly x: number;
    readonly y: number;
    readonly width: number;
  }[];
  /** Where the number of the others is. */
  readonly left: number;
  readonly more: number;
}

/** On the upper edge of the box, from the right, as many as fit. More would cover the arrow of the entry. */
function placed(
  { x, y, width, height }: Node,
  agents: readonly AgentAt[],
  names: Props['names'],
  followed: string | undefined,
): Crowd {
  const first = agents.toSorted((a, b) => Number(b.id === followed) - Number(a.id === followed));
  const marks: Crowd['marks'][number][] = [];
  let right = x + width / 2 - 4;
  for (const agent of first) {
    const name = names.get(agent.id) ?? visible(agent.id);
    const wide = Math.max(18, name.length * LETTER + 12);
    if (marks.length > 0 && right - wide < x + 34) break;
    marks.push({ agent, name, x: right - wide / 2, y: y - height / 2, width: wide });
    right -= wide + 3;
  }
  return { marks, left: right - 3, more: agents.length - marks.length };
}

/** The width of a letter, in pixels. */
const LETTER = 5.6;

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
