/** Executes the checks of a state before its transition is taken, and reminds the agent of failed ones. */
import type { RunEvent, Task } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Facts } from '../model/input.ts';
import type { Tag } from '../model/tag.ts';
import type { Ensure, PromptState, Workflow } from '../model/workflow.ts';
import { type AfterStep, type Answer, fail, followHeldTags, followTags } from './after-step.ts';
import { matches } from './policy.ts';
import { refusalLines } from './rights.ts';

export interface Held {
  readonly tags: readonly Tag[];
  /** The first check to look at. */
  readonly from: number;
  /** The events if no check is left: those of the tags. */
  readonly whenMet: () => readonly RunEvent[];
}

/** Calls the next check that the tags need. */
export function ensured(
  { agent, at }: AfterStep,
  workflow: Workflow,
  { policy: { ensures } }: PromptState,
  { tags, from, whenMet }: Held,
): readonly RunEvent[] {
  const index = ensures.findIndex((ensure, at) => at >= from && isNeeded(workflow, ensure, tags));
  const ensure = ensures[index];
  if (!ensure) return whenMet();
  return [{ type: 'check-called', at, agent: agent.id, ensure: index, run: ensure.run, tags }];
}

/** Decides what follows from the end of a check. */
export function checked(
  context: AfterStep,
  task: CheckTask,
  { exit = 0, text, facts }: Answer,
): readonly RunEvent[] {
  const found = stateOf(context);
  if (!found) return followTags(context, task.tags, facts);
  const { workflow, state } = found;
  const run = state.policy.ensures[task.ensure]?.run ?? '';
  if (exit !== 0)
    return unmet(context, task, { fact: `\`${run}\` exited with ${exit}.`, output: text }, facts);
  return ensured(context, workflow, state, {
    tags: task.tags,
    from: task.ensure + 1,
    whenMet: () => followHeldTags(context, state, task.tags, facts),
  });
}

/** A check failed: the agent is reminded, takes the transition that the author named, or fails. */
function unmet(
  context: AfterStep,
  task: CheckTask,
  { fact, output }: { readonly fact: string; readonly output: string },
  facts: Facts,
): readonly RunEvent[] {
  const { agent, at } = context;
  const ensure = stateOf(context)?.state.policy.ensures[task.ensure];
  const failure: Failure = { kind: 'unmet-check', message: fact };
  if (!ensure) return fail(context, failure);
  const sent = task.unmet?.[task.ensure] ?? 0;
  if (sent < ensure.tries) {
    const text = [reminder(ensure, fact, output, task.tags), ...refusalLines(context.refused)].join(
      '\n',
    );
    const number = sent + 1;
    return [
      { type: 'agent-reminded', at, agent: agent.id, number, failure, text, ensure: task.ensure },
    ];
  }
  if (!ensure.otherwise) return fail(context, failure);
  return [
    {
      type: 'transition-overridden',
      at,
      agent: agent.id,
      evaluator: task.ensure,
      by: 'ensures',
      written: task.tags,
      taken: ensure.otherwise,
    },
    ...followTags(context, [ensure.otherwise], facts),
  ];
}

type CheckTask = Extract<Task, { kind: 'check' }>;

function stateOf({ workflows, agent }: AfterStep) {
  const workflow = workflows(agent.workflow);
  const state = workflow?.states.get(agent.state);
  return workflow && state?.kind === 'prompt' ? { workflow, state } : undefined;
}

function isNeeded(workflow: Workflow, { on }: Ensure, tags: readonly Tag[]): boolean {
  return !on || on.some((entry) => tags.some((tag) => matches(workflow, entry, tag)));
}

function reminder(ensure: Ensure, fact: string, output: string, tags: readonly Tag[]): string {
  const names = [...new Set(tags.map(({ name }) => `<${name}>`))].join(' and ');
  return [
    `Your ${names} was not followed, because a check failed. ${fact}`,
    ...(ensure.say === undefined ? [] : ['', ensure.say]),
    ...(output.trim() === '' ? [] : ['', 'The end of its output:', '', output.trim()]),
    '',
    'Repair the cause. Then end your message with your transition tag again.',
  ].join('\n');
}
