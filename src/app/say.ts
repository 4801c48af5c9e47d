import { randomUUID } from 'node:crypto';
import { openRun } from '../host/open-run.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { RunStore } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { userName } from '../world/user-name.ts';
import { refuseInside } from './refuse-inside.ts';

export interface Said {
  readonly agent: string;
  /** The id of the words in the journal. */
  readonly words: string;
  /**
   * `heard`: the model has got them in its running turn. `turn`: it gets them there when its tool call has
   * ended, or before its next prompt if the turn ends first. `prompt`: they stand in front of its next
   * prompt. `saved`: the run takes them when a process works on it again.
   */
  readonly reach: 'heard' | 'turn' | 'prompt' | 'saved';
}

/** Says something to an agent of a run, which gets it once. Throws a UserError if it is not clear to which one. */
export async function say(
  around: Surroundings,
  id: string,
  text: string,
  wanted?: string,
): Promise<Said> {
  const { store } = around;
  const { run, owner } = await openRun(store, id);
  await refuseInside(around, id, 'speak to its agents');
  checkWords(text);
  const agent = listener(run, wanted);
  const words = randomUUID();
  await store.mailbox(id).post({ kind: 'say', agent, words, text, by: userName() });
  const isCarried = owner !== undefined && !owner.isAwaited;
  return { agent, words, reach: isCarried ? await reachOf(store, run, agent, words) : 'saved' };
}

function checkWords(text: string): void {
  if (text.trim() === '')
    throw new UserError('no-words', 'There is nothing to say.', 'Write the words in quotes.');
  if (text.length > MOST_WORDS)
    throw new UserError(
      'too-many-words',
      `The words have ${text.length} characters. Raymond takes at most ${MOST_WORDS}.`,
      'Put them into a file, and tell the agent to read it.',
    );
}

const MOST_WORDS = 32_000;

/** An agent that asks, waits or has failed hears it before its next prompt. */
function listener({ id, agents, endedAgents }: Run, wanted: string | undefined): string {
  const names = [...agents].map(([name]) => name);
  const remedy = names.length > 0 ? `Name one with --agent: ${names.join(', ')}` : undefined;
  if (wanted !== undefined && !agents.has(wanted))
    throw new UserError(
      'no-listener',
      endedAgents.has(wanted)
        ? `The agent ${wanted} of ${id} has ended, and gets no more prompts.`
        : `${id} has no agent ${wanted}.`,
      remedy ?? `To see its agents: raymond show ${id}`,
    );
  const [only, ...others] = names;
  if (wanted === undefined && only === undefined)
    throw new UserError(
      'no-listener',
      `All agents of ${id} have ended, so nobody can hear it.`,
      `To go back to a step: raymond rewind ${id} --to main:1`,
    );
  if (wanted === undefined && others.length > 0)
    throw new UserError(
      'several-listeners',
      `${id} has ${names.length} agents.`,
      remedy ?? 'Name one with --agent.',
    );
  return wanted ?? only ?? '';
}

/** What the process of the run makes of the words. It usually answers within milliseconds. */
async function reachOf(
  store: RunStore,
  { id, seq }: Run,
  agent: string,
  words: string,
): Promise<Said['reach']> {
  let reach: Said['reach'] = 'saved';
  const news = store.watch(id, seq, AbortSignal.timeout(LOOK_MS));
  for await (const event of news) {
    if (event.type === 'words-said' && event.words === words) {
      if (event.step === undefined) return 'prompt';
      reach = 'turn';
    }
    if (event.type === 'words-heard' && event.words === words) return 'heard';
    if (event.type === 'step-started' && event.words?.includes(words)) return 'prompt';
    const isOver = event.type === 'agent-ended' || event.type === 'agent-stopped';
    if (isOver && event.agent === agent && reach === 'saved') throw tooLate(id, agent);
    if (event.type === 'run-ended') return reach;
  }
  return reach;
}

/** A model that waits for a long tool call hears words only after it. */
const LOOK_MS = 3_000;

function tooLate(id: string, agent: string): UserError {
  return new UserError(
    'no-listener',
    `The agent ${agent} of ${id} ended at the same time, and did not get your words.`,
    `To see the run: raymond show ${id}`,
  );
}

/** What became of words, for a person. */
export function reachText(run: string, { agent, reach }: Said): string {
  switch (reach) {
    case 'heard':
      return `${agent} of ${run} has it: it came into the running turn.`;
    case 'turn':
      return `${agent} of ${run} gets it in its running turn, after its tool call. If the turn ends before, it stands in front of the next prompt.`;
    case 'prompt':
      return `It waits for the next prompt of ${agent} of ${run}.`;
    case 'saved':
      return `It is saved for ${agent} of ${run}.`;
  }
}
