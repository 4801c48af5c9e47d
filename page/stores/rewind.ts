import type { AgentShape, WholeRun } from '../../src/serve/shapes/run.ts';
import type { StepShape } from '../../src/serve/shapes/step.ts';
import { counted, msOf, oneLine, visible } from '../lib/words.ts';

/** What a rewind to the moment before a step takes back, for the person who confirms it. */
export function lostByRewind(run: WholeRun, agent: AgentShape, step: StepShape): readonly string[] {
  const steps = agent.steps - step.step + 1;
  const forked = descendants(run.agents, agent.id).filter(
    ({ born_at }) => msOf(born_at) >= msOf(step.started_at),
  );
  const names = forked.slice(0, 3).map(({ id }) => oneLine(id, 40));
  return [
    `${counted(steps, 'step')} of ${visible(agent.id)}, from step ${step.step} (${visible(step.state)}), no longer count. Its conversation and its callers are as they were before.`,
    ...(forked.length > 0
      ? [
          `${counted(forked.length, 'agent')} that it forked since then ${forked.length === 1 ? 'is' : 'are'} gone: ${names.join(', ')}${forked.length > 3 ? ', …' : ''}.`,
        ]
      : []),
    'In a git repository, files return to their content before the step. Ignored files stay. The files of now are kept, so that the rewind can be undone.',
    'Agents that share its directory are rewound together with it, or the rewind is refused.',
    'Money stays spent, and the abandoned part stays readable.',
  ];
}

function descendants(agents: readonly AgentShape[], id: string): readonly AgentShape[] {
  const found = new Set([id]);
  // A fork comes after its parent, so one pass finds all.
  return agents.filter(({ id: own, parent }) => {
    if (parent === null || !found.has(parent)) return false;
    found.add(own);
    return true;
  });
}
