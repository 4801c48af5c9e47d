/** What the model saw at the end of a step: the tokens of its session, by step and by kind. */
import * as z from 'zod/mini';
import type { StepFacts, Steps } from '../history/steps.ts';
import { taskKindSchema } from '../model/agent-state.ts';
import { CONTEXT_KINDS } from '../model/context-kinds.ts';
import type { StepMessage } from '../model/conversation.ts';
import { count, listOf, orNull, text } from './common.ts';

const kinds = z.object({
  system: count,
  handover: count,
  prompts: count,
  answers: count,
  tool_calls: count,
  tool_results: count,
});

export const contextShape = z.object({
  run: text,
  agent: text,
  step: count,
  session: orNull(text),
  tokens: count.check(z.describe('All tokens of the session at the end of the step.')),
  reported: z
    .boolean()
    .check(
      z.describe(
        'Whether the agent reported the size. The kinds of a step share its tokens by their length. Without a report, four characters count as one token.',
      ),
    ),
  kinds,
  steps: listOf(
    z.object({
      agent: text,
      step: count,
      state: text,
      task: taskKindSchema,
      tokens: count,
      kinds,
    }),
  ).check(z.describe('The steps whose messages the session contains, in their order.')),
});

export type ContextShape = z.infer<typeof contextShape>;
export type ContextKinds = ContextShape['kinds'];

/**
 * The steps whose messages are in the session of a step, oldest first, and the step itself. A step that
 * failed or was started again has left nothing.
 */
export function sessionSteps({ all }: Pick<Steps, 'all'>, last: StepFacts): readonly StepFacts[] {
  const chain: StepFacts[] = [];
  for (let at = all.indexOf(last); at >= 0; at = previous(all, at)) {
    const step = all[at];
    if (step) chain.push(step);
  }
  return chain.reverse();
}

/** The place of the step whose session a step continues or branches; -1 if there is none. */
function previous(all: readonly StepFacts[], at: number): number {
  const session = all[at]?.started.session;
  if (!session || session.use === 'fresh') return -1;
  const from = session.use === 'branch' ? session.from : session.id;
  const cut = session.use === 'branch' ? session.at : undefined;
  for (let i = at - 1; i >= 0; i--) {
    const step = all[i];
    if (step && leaves(step, from, cut)) return i;
  }
  return -1;
}

function leaves({ started, ended }: StepFacts, session: string, at: string | undefined): boolean {
  const isOfSession = ended?.session?.id === session || started.session?.id === session;
  const isLeft =
    ended?.type === 'step-ended' ||
    (ended?.type === 'step-interrupted' && ended.repeat === 'continue');
  return isOfSession && isLeft && (at === undefined || ended.session?.checkpoint === at);
}

/** What is known about the texts of a step. */
export interface ReadStep {
  readonly facts: StepFacts;
  readonly told: string | undefined;
  readonly messages: readonly StepMessage[];
  /** The handover that its prompt contains. */
  readonly handover: string | undefined;
}

export function contextForm(run: string, read: readonly ReadStep[]): ContextShape {
  const last = read.at(-1);
  if (!last) throw new Error('Bug: a context without a step');
  const { started } = last.facts;
  const isReported = read.every(({ facts }) => facts.ended?.contextTokens !== undefined);
  let size = 0;
  const steps = read.map((one, index) => {
    const lengths = lengthsOf(one);
    const estimate = tokensIn(total(lengths));
    const after = one.facts.ended?.contextTokens ?? 0;
    // The first request has the instructions of the agent. Each later one adds what was said since.
    const added = isReported ? Math.max(0, after - size) : estimate;
    const system = isReported && index === 0 ? Math.max(0, added - estimate) : 0;
    size = isReported ? after : size + added;
    const { agent, step, state, task } = one.facts.started;
    const own = shared(lengths, added - system);
    return { agent, step, state, task, tokens: added, kinds: { ...own, system } };
  });
  return {
    run,
    agent: started.agent,
    step: started.step,
    session: started.session?.id ?? null,
    tokens: steps.reduce((sum, { tokens }) => sum + tokens, 0),
    reported: isReported,
    kinds: steps.map((one) => one.kinds).reduce(added, NONE),
    steps,
  };
}

const NONE: ContextKinds = {
  system: 0,
  handover: 0,
  prompts: 0,
  answers: 0,
  tool_calls: 0,
  tool_results: 0,
};

function lengthsOf({ told = '', messages, handover = '' }: ReadStep): ContextKinds {
  const lengths = { ...NONE };
  lengths.handover = told.includes(handover) ? handover.length : 0;
  lengths.prompts = told.length - lengths.handover;
  for (const message of messages) {
    const kind = KIND_OF[message.kind];
    // The messages of an agent that this agent started are in a session of their own.
    if (!kind || !('text' in message) || ('inner' in message && message.inner)) continue;
    lengths[kind] += message.text.length + message.omitted;
  }
  return lengths;
}

const KIND_OF: Readonly<Record<StepMessage['kind'], keyof ContextKinds | undefined>> = {
  person: 'prompts',
  text: 'answers',
  thinking: 'answers',
  'tool-call': 'tool_calls',
  'tool-result': 'tool_results',
  turn: undefined,
  note: undefined,
  stdout: undefined,
  stderr: undefined,
};

/** Tokens in proportion to lengths. The largest part takes what rounding leaves. */
function shared(lengths: ContextKinds, tokens: number): ContextKinds {
  const all = total(lengths);
  if (all === 0) return { ...NONE, answers: tokens };
  const parts = { ...NONE };
  let left = tokens;
  let largest: keyof ContextKinds = 'prompts';
  for (const kind of CONTEXT_KINDS) {
    parts[kind] = Math.floor((lengths[kind] / all) * tokens);
    left -= parts[kind];
    if (lengths[kind] > lengths[largest]) largest = kind;
  }
  return { ...parts, [largest]: parts[largest] + left };
}

function added(a: ContextKinds, b: ContextKinds): ContextKinds {
  const sum = { ...a };
  for (const kind of CONTEXT_KINDS) sum[kind] += b[kind];
  return sum;
}

const total = (lengths: ContextKinds) =>
  CONTEXT_KINDS.reduce((sum, kind) => sum + lengths[kind], 0);

const tokensIn = (characters: number) => Math.ceil(characters / 4);
