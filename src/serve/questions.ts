/** Everything that waits for a person, in all runs. */

import { openByKind } from '../host/questions.ts';
import { approvalForm, filesForm, iso, isoOrNull, permissionForm } from '../look/run-form.ts';
import { pidOf } from '../model/pid-of.ts';
import type { Run } from '../model/run.ts';
import type { RunSummary } from '../model/run-summary.ts';
import { waitsForPerson } from '../model/tally.ts';
import type { RunStore, StoredRun, SurveyedRun } from '../ports.ts';
import type { QuestionList } from './shapes/questions.ts';

/** Pages ask every few seconds, and most runs that wait have no new event since then. */
export class OpenQuestions {
  readonly #store: RunStore;
  #known = new Map<string, Run>();

  constructor(store: RunStore) {
    this.#store = store;
  }

  async in(runs: readonly SurveyedRun[]): Promise<QuestionList> {
    const waiting = runs.filter(waits);
    const found = (await Promise.all(waiting.map((one) => this.#look(one)))).flat();
    this.#known = new Map(found.map(({ id, run }) => [id, run]));
    const lists = await Promise.all(found.map((one) => openIn(this.#store, one)));
    return {
      questions: lists.flatMap(({ questions }) => questions).sort(byTime),
      permissions: lists.flatMap(({ permissions }) => permissions).sort(byTime),
    };
  }

  async #look(surveyed: StoredRun<RunSummary>): Promise<readonly StoredRun[]> {
    const { id, run } = surveyed;
    const known = this.#known.get(id);
    if (known?.seq === run.seq && known.startedAt === run.startedAt)
      return [{ ...surveyed, run: known }];
    const found = await this.#store.look(id);
    return found.kind === 'damaged' ? [] : [found];
  }
}

const waits = (found: SurveyedRun): found is StoredRun<RunSummary> =>
  found.kind === 'stored' && waitsForPerson(found.run.tally) > 0;

const byTime = (a: { readonly asked_at: string }, b: { readonly asked_at: string }) =>
  a.asked_at < b.asked_at ? -1 : 1;

async function openIn(store: RunStore, found: StoredRun): Promise<QuestionList> {
  const { questions, requests } = await openByKind(store, found.run);
  return {
    questions: questions.map((one) => ({
      kind: 'question',
      ...placeOf(found, one.agent),
      question: one.question,
      asked_at: iso(one.askedAt),
      deadline: isoOrNull(one.deadline),
      approval: approvalForm(one),
      ...filesForm(found.run.settings, one),
      answered: one.isAnswered,
    })),
    permissions: requests.map((request) => ({
      ...placeOf(found, request.agent),
      step: request.step,
      ...permissionForm(request),
    })),
  };
}

function placeOf({ id, run, isOwn, owner }: StoredRun, agent: string) {
  const { state = '' } = run.agents.get(agent) ?? {};
  return { run: id, workflow: run.workflow, agent, state, own: isOwn, pid: pidOf(owner) };
}
