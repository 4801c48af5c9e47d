import { counted } from '../model/counted.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Tag } from '../model/tag.ts';
import type { Position, Workflow } from '../model/workflow.ts';
import { fault } from './codes.ts';
import { fileOf, startOf } from './rule.ts';

/** An answer of a finished run that its state would refuse now. */
export interface RefusedAnswer {
  readonly run: string;
  readonly agent: string;
  readonly step: number;
  readonly state: string;
  readonly message: string;
  readonly tags: readonly Tag[];
}

/** One warning for all answers that a state would refuse for the same reason, at the entry that comes nearest. */
export function refusedAnswers(
  workflow: Workflow,
  refused: readonly RefusedAnswer[],
): readonly Diagnostic[] {
  const groups = new Map<string, RefusedAnswer[]>();
  for (const one of refused) {
    const key = JSON.stringify([one.state, one.message]);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const { run, agent, step, state, message } = first;
    const answers = counted(others.length + 1, 'recorded answer');
    const text = `This would refuse ${answers}, such as that of ${agent}:${step} in ${run}. ${message}`;
    const position = positionOf(workflow, first);
    return [fault('refused-answer', fileOf(workflow, state), position, text, REMEDY)];
  });
}

const REMEDY = { remedy: 'Allow the transition again, or say in the prompt what has changed.' };

function positionOf(workflow: Workflow, { state: name, tags }: RefusedAnswer): Position {
  const state = [...workflow.states.values()].find((one) => one.name === name);
  const allowed = state?.kind === 'prompt' ? (state.policy.allowed ?? []) : [];
  const near = allowed.find((entry) => tags.some((tag) => tag.name === entry.tag)) ?? allowed[0];
  return near ?? startOf(state);
}
