/** The bound of a workflow in words, the same in all output. */
import { type Bound, MOST_RETRIES } from '../bound/bound.ts';
import { MOST_AGENTS, MOST_FORKS } from '../interpret/ceilings.ts';
import { counted } from '../model/counted.ts';
import { unreachable } from '../model/unreachable.ts';
import { duration, usd } from '../observe/words.ts';

/** One sentence. */
export function boundText(bound: Bound): string {
  const { prompts, agents, cost_usd } = bound;
  if (bound.unknown.length > 0) return 'The most that a run can use is unknown.';
  if (prompts === null && bound.loops.length > 0)
    return 'There is no limit to the prompts of a run.';
  if (prompts === null) return 'A run can use more prompts than can be counted.';
  const by = agents > 1 ? ` by ${counted(agents, 'agent')}` : '';
  const cost = cost_usd === null ? '' : `, about ${usd(cost_usd)}`;
  return `A run uses at most ${counted(prompts, 'prompt')}${by}${cost}.`;
}

/** The sentence, and what is unknown or has no limit, with the remedies. */
export function boundLines(bound: Bound): readonly string[] {
  return [boundText(bound), ...bound.unknown.map(unknownText), ...bound.loops.map(loopText)];
}

export function loopText({ by, states, limit }: Bound['loops'][number]): string {
  const round = [...states, states[0] ?? ''].join(' → ');
  switch (by) {
    case 'move':
      return `${round} can repeat without a limit. max_visits for ${limit} would limit it.`;
    case 'call':
      return `${round} calls itself. Only --max-depth ends this. max_visits for ${limit} would limit it.`;
    case 'fork':
      return `${round} starts agents that start agents. Only --max-agents ends this (default ${MOST_AGENTS}).`;
    default:
      return unreachable(by);
  }
}

function unknownText({ kind, state, path }: Bound['unknown'][number]): string {
  if (kind === 'target')
    return `${state} chooses its target while it runs, so it could lead to any state. Name the targets, or limit the run with --max-iterations.`;
  const which = path === undefined ? 'a workflow that it chooses' : `the workflow ${path}`;
  return `${state} enters ${which}, which cannot be read now.`;
}

/** What the figures stand on, and what they leave out. */
export function boundNotes(bound: Bound): readonly string[] {
  const { forking, free, asking, prompts_with_retries: retried } = bound;
  return [
    'Included: reminders, judges, checks that fail, handovers and filled placeholders.',
    `Not included: retries. A prompt that breaks off is repeated up to ${MOST_RETRIES} times${retried === null ? '' : `, so that ${counted(retried, 'prompt')} may start`}. A resume repeats what has failed.`,
    ...(forking.length > 0
      ? [
          `${forking.join(', ')}: the number of agents is unknown, and counted as ${MOST_FORKS} for each answer. --max-agents limits it.`,
        ]
      : []),
    ...(free.length > 0
      ? [
          `${free.join(', ')}: without allowed_transitions, an agent may write any tag. Only those in the text are counted.`,
        ]
      : []),
    ...(asking.length > 0
      ? [`${asking.join(', ')}: waits for a person as long as it takes. A timeout would limit it.`]
      : []),
  ];
}

export function costText({ prompts, cost_usd, price, loops, unknown }: Bound): string {
  if (prompts === 0) return 'none';
  if (price.from === 'nothing') {
    const why =
      price.runs === 0
        ? 'there is no finished run'
        : `no finished run has visited ${price.states.join(', ')}`;
    return `unknown: ${why}. Give the price of a prompt, such as --turn 0.50`;
  }
  const basis =
    price.from === 'turn'
      ? `at ${usd(price.usd)} for each prompt`
      : `if each visit costs as much as the dearest of ${counted(price.runs, 'finished run')}`;
  if (cost_usd !== null) return `${usd(cost_usd, true)}, ${basis}`;
  return unknown.length > 0 && loops.length === 0 ? 'unknown' : 'no limit';
}

export function timeText({ time_ms, prompts }: Bound): string {
  if (time_ms !== null)
    return `${duration(time_ms)} of work, if each visit takes as long as the longest of the finished runs`;
  return prompts === null
    ? 'no limit'
    : 'unknown: a step that works may take any time, and not every state is in a finished run';
}

type Step = Bound['paths'][number]['steps'][number];

/** `START.md → (WORK.md, REVIEW.md) repeated → END.md`. */
export const pathText = (steps: readonly Step[]) => steps.map(stepText).join(' → ');

function stepText({ kind, states, agents = 0 }: Step): string {
  const names = states.join(', ');
  switch (kind) {
    case 'state':
      return names;
    case 'loop':
      return `(${names}) repeated`;
    case 'call':
      return `call of ${names}`;
    case 'fork':
      return `${counted(agents, 'agent')} at ${names}`;
    default:
      return unreachable(kind);
  }
}
