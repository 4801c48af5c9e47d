/**
 * INV-47: Each of a person's words is in the history that the model of its agent sees once, whatever is
 * killed.
 *
 * Words of people for agents. An agent that takes words during a turn hears them there. Otherwise they
 * stand in front of its next prompt. A turn that breaks off and is repeated has lost them, so they are
 * given again. They are over when the step that has them has ended.
 */
import type { Words } from '../model/agent-state.ts';
import { changedAgent } from '../model/changed.ts';
import type { RunEvent, RunEventOf, Task } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Agent, Run } from '../model/run.ts';
import { agentNamed } from '../parse/chosen-agent.ts';
import { change } from './change-agent.ts';
import type { Workflows } from './follow.ts';

/** Words that have come before, or whose agent is over, give no events. */
export function personSaid(
  workflows: Workflows,
  run: Run,
  { at, agent: id, words, text, by }: Extract<Input, { kind: 'person-said' }>,
): readonly RunEvent[] {
  const agent = run.agents.get(id);
  if (!agent || run.said.has(words)) return [];
  const step = listeningStep(workflows, agent);
  return [
    {
      ...{ type: 'words-said', at, agent: id, words, text },
      ...(by !== undefined && { by }),
      ...(step !== undefined && { step }),
    },
  ];
}

/** The running step of the agent, if words reach the model during its turn. */
function listeningStep(workflows: Workflows, { workflow, status }: Agent): number | undefined {
  if (status.kind !== 'running' || !status.session || !takesWords(status.task)) return undefined;
  const agents = workflows(workflow)?.agents;
  const executor = agents && agentNamed(agents, status.executor ?? agents.usual);
  return executor?.can.hear ? status.step : undefined;
}

/** A judge has a conversation of its own, which is not the agent's. */
export function takesWords({ kind }: Task): boolean {
  return kind === 'state' || kind === 'reminder' || kind === 'continuation';
}

export function wordsHeard(
  run: Run,
  { at, agent, step, words }: Extract<Input, { kind: 'words-heard' }>,
): readonly RunEvent[] {
  const { status, words: known = [] } = run.agents.get(agent) ?? {};
  if (status?.kind !== 'running' || status.step !== step) return [];
  const isNew = known.some(({ id, given }) => id === words && !given);
  return isNew ? [{ type: 'words-heard', at, agent, step, words }] : [];
}

/** The ids of the words that the next prompt has to begin with. */
export const waitingWords = ({ words }: Agent): readonly string[] =>
  words.flatMap(({ id, given }) => (given ? [] : id));

export function said(run: Run, event: RunEventOf<'words-said'>): Run {
  const { agent: id, words, text, by, at, step } = event;
  const spoken: Words = {
    ...{ id: words, text, at },
    ...(by !== undefined && { by }),
    ...(step !== undefined && { into: step }),
  };
  return change({ ...run, said: run.said.set(words, run.seq + 1) }, id, (agent) =>
    changedAgent(agent, { words: [...agent.words, spoken] }),
  );
}

export function heard(run: Run, { agent: id, step, words }: RunEventOf<'words-heard'>): Run {
  return change(run, id, (agent) =>
    changedAgent(agent, { words: given(agent.words, [words], { step, how: 'turn' }) }),
  );
}

/** `ids` are the words that a step has. */
export function given(
  words: readonly Words[],
  ids: readonly string[] | undefined,
  how: NonNullable<Words['given']>,
): readonly Words[] {
  if (!ids) return words;
  return words.map((one) => (ids.includes(one.id) ? { ...one, given: how } : one));
}

/** The words after a step has ended. If it is repeated from its beginning, its history is cut off. */
export function wordsAfter(words: readonly Words[], step: number, isKept: boolean) {
  if (!words.some(({ given }) => given?.step === step)) return words;
  if (isKept) return words.filter(({ given }) => given?.step !== step);
  return words.map((one): Words => {
    const { given, ...rest } = one;
    return given?.step === step ? { ...rest, isOld: true } : one;
  });
}

/** The words in front of the prompt of a step; with `isNew`, without those that an earlier attempt had. */
export function wordsBefore({ words }: Agent, step: number, isNew = false): readonly Words[] {
  return words.filter(
    ({ given, isOld }) => given?.step === step && given.how === 'prompt' && !(isNew && isOld),
  );
}
