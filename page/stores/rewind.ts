import type { AgentShape, WholeRun } from '../../src/look/run-shape.ts';
import type { StepShape } from '../../src/look/step-shape.ts';
import type { RewindRequest } from '../../src/serve/shapes/requests.ts';
import { counted, msOf, oneLine, visible } from '../lib/words.ts';

/** A rewind, in words for the person who confirms it. */
export interface AskedRewind {
  readonly request: RewindRequest;
  readonly title: string;
  readonly act: string;
  /** The effects. */
  readonly means: readonly string[];
  /** Shown afterwards, with a hint for the next act. */
  readonly done: string;
  readonly next: string;
}

/** Back to the moment before a step. */
export function rewindTo(run: WholeRun, agent: AgentShape, step: StepShape): AskedRewind {
  const name = visible(agent.id);
  return {
    request: { agent: agent.id, step: step.step },
    title: `Rewind ${name} to before step ${step.step}?`,
    act: 'Rewind',
    means: lostByRewind(run, agent, step),
    done: `${name} is before step ${step.step} again.`,
    next: 'Resume the run to continue from there, or undo the rewind.',
  };
}

/** Takes the newest rewind back. */
export function undoOf({ agent, step, steps }: NonNullable<WholeRun['rewound']>): AskedRewind {
  const place = `step ${step} of ${visible(agent)}`;
  return {
    request: { undo: true },
    title: 'Undo the rewind?',
    act: 'Undo the rewind',
    means: [
      `${counted(steps, 'step')} from ${place} on ${steps === 1 ? 'counts' : 'count'} again. The run is as it was before the rewind.`,
      'Steps since the rewind no longer count. They stay readable, and their money stays spent.',
      'In a git repository, files return to their content before the rewind. Ignored files stay.',
    ],
    done: 'The rewind is undone.',
    next: 'Resume the run to continue.',
  };
}

function lostByRewind(run: WholeRun, agent: AgentShape, step: StepShape): readonly string[] {
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
