import { isOffered, type PermissionDecision } from '../model/permission.ts';
import { UserError } from '../model/user-error.ts';
import { callText, choicesText } from '../observe/words.ts';
import type { RunStore } from '../ports.ts';
import { answeredAlready, settled } from './give-answer.ts';
import type { Request } from './questions.ts';
import { openRun } from './runs.ts';

/**
 * Posts the decision of a person about a permission request. Resolves only if it counts: it is the
 * first one, and nothing else has settled the request. `by` names the person.
 */
export async function giveDecision(
  store: RunStore,
  id: string,
  request: Pick<Request, 'agent' | 'step' | 'request'>,
  decision: PermissionDecision,
  by?: string,
): Promise<void> {
  const { agent, step } = request;
  const to = { agent, step, request: request.request };
  const isFirst = await store
    .mailbox(id)
    .post({ kind: 'permission', ...to, ...decision, ...(by !== undefined && { by }) });
  if (!isFirst) throw answeredAlready(id, agent);
  const status = (await openRun(store, id)).run.agents.get(agent)?.status;
  const isOpen =
    status?.kind === 'running' &&
    status.step === step &&
    status.requests.some((open) => open.request === request.request);
  if (!isOpen && !(await wasTaken(store, id, to, decision))) throw settled(id, agent);
}

/** Throws a UserError if the request does not offer the decision. */
export function checkOffered(
  id: string,
  request: Request,
  decision: PermissionDecision | undefined,
): PermissionDecision {
  if (decision && isOffered(request, decision.decision)) return decision;
  throw new UserError(
    'not-a-decision',
    request.isQuestion
      ? `${request.agent} of ${id} asks a question, which needs a text.`
      : `${request.agent} of ${id} asks permission for ${callText(request)}.`,
    request.isQuestion ? 'Answer it with a text.' : `Answer with ${choicesText(request)}.`,
  );
}

async function wasTaken(
  store: RunStore,
  id: string,
  to: { readonly agent: string; readonly step: number; readonly request: string },
  { decision, text }: PermissionDecision,
): Promise<boolean> {
  for await (const event of store.events(id))
    if (
      event.type === 'permission-answered' &&
      event.agent === to.agent &&
      event.step === to.step &&
      event.request === to.request
    )
      return event.decision === decision && event.text === text;
  return false;
}
