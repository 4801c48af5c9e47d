import { ignore } from '../model/event-kinds.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { Clock, Observer, OpenQuestion, Person } from '../ports.ts';

/** Puts the questions of a run to a person: those that are open already, and each that is asked. */
export function askPerson(
  person: Person,
  open: readonly AskedQuestion[],
  put: (input: Input) => void,
  clock: Clock,
): Observer {
  const ask = ({ agent, question, deadline, askedAt }: AskedQuestion) =>
    person.ask(
      { agent, question, deadline },
      {
        answer: (text) => put({ kind: 'person-answered', at: clock.now(), agent, askedAt, text }),
        // Nothing follows from it, but that the run looks again what it still waits for.
        leave: () => put({ kind: 'time-came', at: clock.now(), agent }),
      },
    );
  for (const question of open) ask(question);
  return {
    event(event) {
      switch (event.type) {
        case 'agent-asked':
          ask({ ...event, askedAt: event.at });
          break;
        case 'agent-answered':
        case 'question-timed-out':
        case 'agent-stopped':
          person.withdraw(event.agent);
          break;
        default:
          ignore(event);
      }
    },
    live: () => {},
  };
}

export interface AskedQuestion extends OpenQuestion {
  readonly askedAt: number;
}

/** Those that an earlier process has asked. The value of a resume answers the only one. */
export function openQuestions(run: Run, first: readonly Input[]): readonly AskedQuestion[] {
  const hasValue = first.some((input) => input.kind === 'resume' && input.input !== undefined);
  if (run.tally.asking === 0 || (hasValue && run.tally.asking === 1)) return [];
  return [...run.agents].flatMap(([agent, { status }]) =>
    status.kind === 'asking' ? [{ agent, ...status }] : [],
  );
}

/** For a run whose questions wait until the mailbox has an answer. */
export const ANSWERING_BY_MAIL: Person = {
  ask: () => {},
  withdraw: () => {},
  isPresent: () => true,
  close: () => {},
};

/** For a run that does not wait for answers. */
export const NOBODY: Person = {
  ask: () => {},
  withdraw: () => {},
  isPresent: () => false,
  close: () => {},
};
