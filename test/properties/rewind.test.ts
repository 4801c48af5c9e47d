import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import type { Session } from '../../src/model/event.ts';
import type { Agent, Run } from '../../src/model/run.ts';
import type { Stage } from '../make-run.ts';
import { follow, rewound, stepsOf } from '../rewound-run.ts';
import { journey } from './journeys.ts';

test('a rewind gives the agent as it was before the step, except its money, and leaves others alone', () => {
  fc.assert(
    fc.property(journey, fc.nat(), (stage, pick) => {
      const to = pickStep(stage, pick);
      if (!to) return;
      const before = beforeStep(stage, to);
      const spent = stage.run.totalCostUsd;
      const { planned, run, events } = rewound(stage, { kind: 'to', ...to });
      if (!planned.ok) {
        expect(planned.problem).toBe('abandoned');
        return;
      }
      const after = run.agents.get(to.agent);
      expect(after && comparable(after)).toEqual(before && comparable(before));
      expect(run.totalCostUsd).toBeGreaterThanOrEqual(spent);
      expect(after?.steps).toBeGreaterThanOrEqual(to.step);
      expect(run).toEqual(events.reduce(apply, newRun));
      const { agents, ended, gone } = planned.plan.event;
      const concerned = new Set([...[...agents, ...ended].map(({ id }) => id), ...gone]);
      for (const [id, agent] of events.slice(0, -1).reduce(apply, newRun).agents)
        if (!concerned.has(id) && agent.status.kind !== 'joining')
          expect(run.agents.get(id)).toEqual(agent);
    }),
  );
});

test('an undo gives the run as it was, except its numbers', () => {
  fc.assert(
    fc.property(journey, fc.nat(), (stage, pick) => {
      const to = pickStep(stage, pick);
      if (!to) return;
      const once = rewound(stage, { kind: 'to', ...to });
      if (!once.planned.ok) return;
      const before = once.events.slice(0, -1).reduce(apply, newRun);
      const again = rewound({ ...stage, ...once }, { kind: 'undo' });
      expect(again.planned.ok).toBe(true);
      const [was, is] = [whole(before), whole(again.run)];
      expect(before.status.kind === 'ended' ? is : { ...is, status: 'over' }).toEqual(was);
      expect([...again.run.notes].sort()).toEqual([...before.notes].sort());
    }),
  );
});

const pickStep = (stage: Stage, pick: number) => {
  const steps = stepsOf(stage);
  return steps[pick % Math.max(1, steps.length)];
};

function beforeStep({ events }: Stage, to: { agent: string; step: number }): Agent | undefined {
  let found: Agent | undefined;
  follow(events, (event, before) => {
    const isIt = event.type === 'step-started' && event.step === to.step;
    if (isIt && event.agent === to.agent) found = before.agents.get(to.agent);
  });
  return found;
}

/** The same conversation may be another session, which is cut off at the same message. */
function comparable(agent: Agent) {
  const { steps: _, costUsd: __, worktree, status, ...others } = agent;
  const source = (session: Session) =>
    session.kind === 'none' ? 'none' : session.kind === 'open' ? session.id : session.from;
  return {
    ...others,
    session: source(agent.session),
    stack: agent.stack.map((frame) => ({ ...frame, session: source(frame.session) })),
    worktree: worktree?.branch,
    status: status.kind === 'ready' ? judged(status.task) : timeless(status),
  };
}

/** A reminded judge may be asked from the beginning. */
function judged(task: Extract<Agent['status'], { kind: 'ready' }>['task']) {
  return task.kind === 'judge' ? { ...task, reminder: undefined } : task;
}

/** Questions and joins begin again. */
function timeless(status: Agent['status']) {
  if (status.kind === 'asking') return { ...status, askedAt: 0, deadline: 0 };
  if (status.kind !== 'joining') return status;
  return { ...status, since: 0, join: { ...status.join, deadline: 0 } };
}

function whole(run: Run) {
  const agents = [...run.agents].map(([id, agent]) => [id, comparable(agent)] as const);
  const ended = [...run.endedAgents].map(([id, { steps: _, costUsd: __, ...agent }]) => {
    return [id, agent] as const;
  });
  const { result, removals } = run;
  // A run that had crashed is over after a rewind, and can be resumed.
  const status = run.status.kind === 'ended' ? run.status : 'over';
  return { agents: new Map(agents), ended: new Map(ended), status, result, removals };
}
