import type { RunControl, RunStore } from '../ports.ts';
import { iso, isoOrNull } from './rows.ts';
import type { QuestionShape } from './shapes/questions.ts';

/** Everything that waits for a person, the oldest first. */
export async function openQuestions(
  store: RunStore,
  control: Pick<RunControl, 'questions'>,
): Promise<readonly QuestionShape[]> {
  const asking = (await store.survey()).filter(
    (found) => found.kind === 'stored' && found.run.tally.asking > 0,
  );
  const questions = await Promise.all(asking.map(({ id }) => questionsOf(store, control, id)));
  return questions.flat().sort((a, b) => (a.asked_at < b.asked_at ? -1 : 1));
}

async function questionsOf(
  store: RunStore,
  control: Pick<RunControl, 'questions'>,
  id: string,
): Promise<readonly QuestionShape[]> {
  const found = await store.look(id);
  if (found.kind === 'damaged') return [];
  const { run, isOwn, owner } = found;
  const open = await control.questions(run);
  return open.map(({ agent, question, askedAt, deadline, isAnswered }) => ({
    kind: 'question',
    run: id,
    workflow: run.workflow,
    agent,
    state: run.agents.get(agent)?.state ?? '',
    question,
    asked_at: iso(askedAt),
    deadline: isoOrNull(deadline),
    answered: isAnswered,
    own: isOwn,
    pid: owner?.pid ?? null,
  }));
}
