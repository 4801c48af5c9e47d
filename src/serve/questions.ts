/** Everything that waits for a person, in all runs. */
import { waitsForPerson } from '../model/tally.ts';
import type { OpenPermission, RunControl, RunStore, StoredRun } from '../ports.ts';
import { iso, isoOrNull } from './rows.ts';
import type { QuestionList } from './shapes/questions.ts';
import type { PermissionShape } from './shapes/run.ts';

type Asking = Pick<RunControl, 'questions' | 'requests'>;

export async function openQuestions(store: RunStore, control: Asking): Promise<QuestionList> {
  const waiting = (await store.survey()).filter(
    (found) => found.kind === 'stored' && waitsForPerson(found.run.tally) > 0,
  );
  const lists = await Promise.all(waiting.map(({ id }) => questionsOf(store, control, id)));
  return {
    questions: lists.flatMap(({ questions }) => questions).sort(byTime),
    permissions: lists.flatMap(({ permissions }) => permissions).sort(byTime),
  };
}

const byTime = (a: { readonly asked_at: string }, b: { readonly asked_at: string }) =>
  a.asked_at < b.asked_at ? -1 : 1;

async function questionsOf(store: RunStore, control: Asking, id: string): Promise<QuestionList> {
  const found = await store.look(id);
  if (found.kind === 'damaged') return { questions: [], permissions: [] };
  const [questions, requests] = await Promise.all([
    control.questions(found.run),
    control.requests(found.run),
  ]);
  return {
    questions: questions.map(({ agent, question, askedAt, deadline, isAnswered }) => ({
      kind: 'question',
      ...placeOf(found, agent),
      question,
      asked_at: iso(askedAt),
      deadline: isoOrNull(deadline),
      answered: isAnswered,
    })),
    permissions: requests.map((request) => ({
      ...placeOf(found, request.agent),
      step: request.step,
      ...permissionOf(request),
    })),
  };
}

function placeOf({ id, run, isOwn, owner }: StoredRun, agent: string) {
  const { state = '' } = run.agents.get(agent) ?? {};
  return { run: id, workflow: run.workflow, agent, state, own: isOwn, pid: owner?.pid ?? null };
}

export function permissionOf(open: OpenPermission): PermissionShape {
  return {
    request: open.request,
    tool: open.tool,
    summary: open.summary,
    input: open.input,
    input_length: open.inputLength ?? null,
    rules: open.rules ?? null,
    question: open.isQuestion === true,
    asked_at: iso(open.askedAt),
    answered: open.isAnswered,
  };
}
