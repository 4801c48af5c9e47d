import { playedSignatures } from '../model/approval.ts';
import type { RunEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import type { Input } from '../model/input.ts';
import { requestIn, requestText } from '../model/permission.ts';
import type { OpenRequest, Run } from '../model/run.ts';
import type { Clock, Observer, OpenQuestion, Person } from '../ports.ts';

/**
 * Puts the questions and permission requests of a run to a person: those that are open already, and
 * each later one.
 */
export function askPerson(
  person: Person,
  run: string,
  open: readonly AskedQuestion[],
  put: (input: Input) => void,
  clock: Clock,
): Observer {
  /** The ids of the requests of each agent. They end with their step. */
  const requests = new Map<string, Set<string>>();
  const ask = (asked: AskedQuestion) => {
    const { agent, askedAt, step, request, approval } = asked;
    if (approval && !person.signs) return;
    if (request) requests.set(agent, (requests.get(agent) ?? new Set()).add(asked.id));
    const at = () => clock.now();
    person.ask(
      { ...asked, run },
      {
        answer: (text) => {
          const answer = { at: at(), agent, askedAt, text, signatures: playedSignatures(approval) };
          put({ kind: 'person-answered', ...answer });
        },
        decide: (decision) => {
          if (!request || step === undefined) return;
          const to = { agent, step, request: request.request };
          put({ kind: 'permission-decided', at: at(), ...to, ...decision });
        },
        // Its only effect is that the run checks again what it waits for.
        leave: () => put({ kind: 'time-came', at: at(), agent }),
      },
    );
  };
  const withdraw = (agent: string, id: string) => {
    requests.get(agent)?.delete(id);
    person.withdraw?.(id);
  };
  const withdrawAll = (agent: string) => {
    for (const id of requests.get(agent) ?? []) person.withdraw?.(id);
    requests.delete(agent);
  };
  for (const question of open) ask(question);
  return {
    event: (event) => follow(event, { ask, withdraw, withdrawAll }),
    live: () => {},
  };
}

interface Asking {
  ask(asked: AskedQuestion): void;
  withdraw(agent: string, id: string): void;
  /** All requests of an agent. */
  withdrawAll(agent: string): void;
}

function follow(event: RunEvent, { ask, withdraw, withdrawAll }: Asking): void {
  switch (event.type) {
    case 'agent-asked':
      ask({ ...event, id: event.agent, askedAt: event.at });
      break;
    case 'permission-asked':
      ask(requestOf(event.agent, event.step, { ...requestIn(event), askedAt: event.at }));
      break;
    case 'permission-answered':
    case 'permission-withdrawn':
      withdraw(event.agent, requestId(event.agent, event.step, event.request));
      break;
    case 'step-ended':
    case 'step-failed':
    case 'step-interrupted':
      withdrawAll(event.agent);
      break;
    case 'agent-answered':
    case 'question-timed-out':
      withdraw(event.agent, event.agent);
      break;
    case 'agent-stopped':
      withdraw(event.agent, event.agent);
      withdrawAll(event.agent);
      break;
    default:
      ignore<'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'>(
        event,
      );
  }
}

export interface AskedQuestion extends Omit<OpenQuestion, 'run'> {
  readonly askedAt: number;
  /** Present for a permission request. */
  readonly step?: number | undefined;
}

/** An agent has at most one question of the workflow at a time, so the agent's name identifies it. */
const requestId = (agent: string, step: number, request: string) => `${agent} ${step} ${request}`;

export function requestOf(agent: string, step: number, request: OpenRequest): AskedQuestion {
  const id = requestId(agent, step, request.request);
  return { id, agent, step, question: requestText(request), request, askedAt: request.askedAt };
}

/** The questions that an earlier process has asked. If there is only one, the input of a resume answers it. */
export function openQuestions(run: Run, first: readonly Input[]): readonly AskedQuestion[] {
  const { asking, asksPermission } = run.tally;
  if (asking + asksPermission === 0) return [];
  const hasValue = first.some((input) => input.kind === 'resume' && input.input !== undefined);
  const isAnswered = hasValue && asking === 1;
  return [...run.agents].flatMap(([agent, { status }]) => {
    if (status.kind === 'running')
      return status.requests.map((request) => requestOf(agent, status.step, request));
    return status.kind === 'asking' && !isAnswered ? [{ ...status, id: agent, agent }] : [];
  });
}

/** For a run whose questions wait until the mailbox has an answer. */
export const ANSWERING_BY_MAIL: Person = { ask: () => {}, isPresent: () => true };

/** For a run that does not wait for answers. */
export const NOBODY: Person = { ask: () => {}, isPresent: () => false };
