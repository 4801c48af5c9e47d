import type { AgentShape, WholeRun } from '../../src/look/run-shape.ts';
import { oneLine } from '../lib/words.ts';
import { variablesText } from '../stores/agents.ts';

interface Props {
  readonly run: WholeRun;
  readonly agent: string | undefined;
  /** The choice of no agent, if that is possible. */
  readonly none?: string;
  readonly onChoose: (agent: string | undefined) => void;
}

/** Chooses an agent. Its variables tell it from its siblings. */
export function AgentChoice({ run, agent, none, onChoose }: Props) {
  return (
    <select
      class="input choice"
      aria-label="Agent"
      value={agent ?? ''}
      onChange={(event) => onChoose(event.currentTarget.value || undefined)}
    >
      {none !== undefined && <option value="">{none}</option>}
      {run.agents.map((one) => (
        <option key={one.id} value={one.id}>
          {nameOf(one)}
        </option>
      ))}
    </select>
  );
}

const nameOf = (agent: AgentShape) => oneLine(`${agent.id} ${variablesText(agent)}`.trim(), 70);
