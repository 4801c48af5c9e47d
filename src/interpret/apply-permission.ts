/** Folds permission requests, and the decisions about them, into a run. */
import { changedAgent } from '../model/changed.ts';
import type { RunEventOf } from '../model/event.ts';
import { requestIn } from '../model/permission.ts';
import type { Agent, Run, RunningStatus } from '../model/run.ts';
import { change } from './change-agent.ts';

export function permissionAsked(run: Run, event: RunEventOf<'permission-asked'>): Run {
  const request = { ...requestIn(event), askedAt: event.at };
  return changeStep(run, event, (status) => ({ requests: [...status.requests, request] }));
}

export function permissionAnswered(run: Run, event: RunEventOf<'permission-answered'>): Run {
  const { request, decision, text, rules } = event;
  const decided = { request, decision, ...(text !== undefined && { text }) };
  const after = changeStep(run, event, (status) => ({
    requests: without(status, request),
    decided: [...status.decided, decided].slice(-MOST_DECIDED),
  }));
  return rules ? withGranted(after, rules) : after;
}

/** A process gives each decision before it records another round, so older ones were given. */
const MOST_DECIDED = 100;

export function permissionWithdrawn(run: Run, event: RunEventOf<'permission-withdrawn'>): Run {
  return changeStep(run, event, (status) => ({ requests: without(status, event.request) }));
}

function changeStep(
  run: Run,
  { agent, step }: { readonly agent: string; readonly step: number },
  next: (status: RunningStatus) => Partial<RunningStatus>,
): Run {
  return change(run, agent, (before): Agent => {
    const { status } = before;
    if (status.kind !== 'running' || status.step !== step) return before;
    return changedAgent(before, { status: { ...status, ...next(status) } });
  });
}

const without = ({ requests }: RunningStatus, id: string) =>
  requests.filter(({ request }) => request !== id);

function withGranted(run: Run, rules: readonly string[]): Run {
  const granted = [...new Set([...(run.settings.granted ?? []), ...rules])];
  return { ...run, settings: { ...run.settings, granted } };
}
