import { UserError } from '../model/user-error.ts';
import type { RunStore } from '../ports.ts';
import { openRun } from './runs.ts';

interface Asked {
  readonly agent: string;
  readonly askedAt: number;
}

/** Resolves only if the answer counts: it is the first one, and nothing else has settled the question. */
export async function giveAnswer(
  store: RunStore,
  id: string,
  question: Asked,
  text: string,
): Promise<void> {
  const { agent, askedAt } = question;
  const isFirst = await store.mailbox(id).post({ kind: 'answer', agent, askedAt, text });
  if (!isFirst) throw answeredAlready(id, agent);
  const status = (await openRun(store, id)).run.agents.get(agent)?.status;
  const isOpen = status?.kind === 'asking' && status.askedAt === askedAt;
  if (!isOpen && !(await wasTaken(store, id, question, text))) throw settled(id, agent);
}

async function wasTaken(
  store: RunStore,
  id: string,
  question: Asked,
  text: string,
): Promise<boolean> {
  let isOpen = false;
  for await (const event of store.events(id)) {
    if (!('agent' in event) || event.agent !== question.agent) continue;
    if (isOpen) return event.type === 'agent-answered' && event.text === text;
    isOpen = event.type === 'agent-asked' && event.at === question.askedAt;
  }
  return false;
}

export function answeredAlready(id: string, agent: string): UserError {
  return new UserError(
    'question-answered',
    `The question of ${agent} in ${id} already has an answer. Raymond did not change it.`,
    `The run uses that answer when it continues: raymond resume ${id}`,
  );
}

export function settled(id: string, agent: string): UserError {
  return new UserError(
    'question-settled',
    `The question of ${agent} in ${id} was settled at the same time. Your answer was not used.`,
    `To see the run: raymond show ${id}`,
  );
}
