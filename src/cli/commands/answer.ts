import type { Agent, AskingStatus } from '../../model/run.ts';
import { UserError } from '../../model/user-error.ts';
import { oneLine } from '../../observe/words.ts';
import { sendTo } from '../run-process.ts';
import { type FoundRun, openRun } from '../runs.ts';
import { currentProject } from '../store.ts';
import { stderr, stdout } from '../terminal.ts';

export interface AnswerOptions {
  readonly agent?: string;
  readonly json?: boolean;
}

/** Answers an agent's question. The answer is kept until the run takes it. */
export async function answer(name: string, text: string, options: AnswerOptions): Promise<number> {
  const found = await openRun(await currentProject(), name);
  const { id, paths, pid } = found;
  const { agent, status } = askingAgent(found, options.agent);
  await sendTo(paths, { kind: 'answer', agent: agent.id, askedAt: status.askedAt, text });
  if (options.json) stdout.json({ workflow_id: id, agent: agent.id, answered: true });
  else if (pid === undefined) stderr.say(`The answer is kept. To go on: raymond resume ${id}`);
  else stderr.say(`${agent.id} of ${id} has its answer.`);
  return 0;
}

function askingAgent(
  { id, run }: FoundRun,
  wanted: string | undefined,
): { agent: Agent; status: AskingStatus } {
  const asking = [...run.agents].flatMap(([, agent]) =>
    agent.status.kind === 'asking' ? [{ agent, status: agent.status }] : [],
  );
  const [first, ...others] =
    wanted === undefined ? asking : asking.filter(({ agent }) => agent.id === wanted);
  if (!first) {
    const who = wanted === undefined ? 'Nobody' : `No agent ${wanted}`;
    throw new UserError(
      'no-question',
      `${who} in ${id} has a question.`,
      `See what it does: raymond show ${id}`,
    );
  }
  if (others.length > 0) {
    const names = asking
      .map(({ agent, status }) => `${agent.id} (${oneLine(status.question, 40)})`)
      .join(', ');
    throw new UserError(
      'several-questions',
      `${asking.length} agents of ${id} have questions: ${names}.`,
      'Name one with --agent.',
    );
  }
  return first;
}
