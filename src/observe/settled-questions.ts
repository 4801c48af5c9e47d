import type { RunEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import type { Observer } from '../ports.ts';
import type { Line } from './describe.ts';

/**
 * Holds back the lines about questions until they are settled, because the live view shows open ones.
 * So a question is on the screen once, and the report has it before its answer.
 */
export function settledQuestions(
  show: (line: Line) => void,
  observe: (show: (line: Line) => void) => Observer,
): Observer {
  let open: Held[] = [];
  let asked: Held | undefined;
  const observer = observe((line) => (asked ? asked.lines.push(line) : show(line)));
  const release = (isSettled: (held: Held) => boolean) => {
    const settled = open.filter(isSettled);
    if (settled.length > 0) open = open.filter((held) => !settled.includes(held));
    for (const line of settled.flatMap(({ lines }) => lines)) show(line);
  };
  return {
    event(event, before, after) {
      if (open.length > 0) release((held) => after.status.kind === 'ended' || !isOpen(held, after));
      asked = questionIn(event);
      if (asked && after.status.kind !== 'ended') open.push(asked);
      observer.event(event, before, after);
      asked = undefined;
    },
    live: observer.live,
    close() {
      release(() => true);
      return observer.close?.();
    },
  };
}

interface Held {
  readonly agent: string;
  /** Absent for a question of the workflow. */
  readonly request?: string;
  readonly lines: Line[];
}

function questionIn(event: RunEvent): Held | undefined {
  if (event.type === 'agent-asked') return { agent: event.agent, lines: [] };
  if (event.type !== 'permission-asked') return undefined;
  return { agent: event.agent, request: event.request, lines: [] };
}

function isOpen({ agent, request }: Held, { agents }: Run): boolean {
  const status = agents.get(agent)?.status;
  if (request === undefined) return status?.kind === 'asking';
  return status?.kind === 'running' && status.requests.some((one) => one.request === request);
}
