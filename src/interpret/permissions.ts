/** Decides what follows from a permission request, and from the decision of a person about it. */
import type { RunEvent } from '../model/event.ts';
import type { PermissionDecided } from '../model/input.ts';
import { isOffered, type PermissionRequest } from '../model/permission.ts';
import type { Run, RunningStatus } from '../model/run.ts';

interface StepRef {
  readonly at: number;
  readonly agent: string;
  readonly step: number;
}

/** A request is recorded once: whoever adopts the step reports it again. */
export function permissionRequested(
  run: Run,
  { at, agent, step }: StepRef,
  request: PermissionRequest,
): readonly RunEvent[] {
  const status = runningStep(run, agent, step);
  const isNew = status && ![...status.requests, ...status.decided].some(isFor(request.request));
  return isNew ? [{ type: 'permission-asked', at, agent, step, ...request }] : [];
}

export function permissionWithdrawn(
  run: Run,
  { at, agent, step }: StepRef,
  request: string,
): readonly RunEvent[] {
  const isOpen = runningStep(run, agent, step)?.requests.some(isFor(request));
  return isOpen ? [{ type: 'permission-withdrawn', at, agent, step, request }] : [];
}

/** A decision that the request does not offer gives no events: the request stays open. */
export function permissionDecided(run: Run, input: PermissionDecided): readonly RunEvent[] {
  const { at, agent, step, request, decision, text, by } = input;
  const open = runningStep(run, agent, step)?.requests.find(isFor(request));
  if (!open || !isOffered(open, decision)) return [];
  return [
    {
      ...{ type: 'permission-answered', at, agent, step, request, decision },
      ...(text !== undefined && { text }),
      ...(decision === 'allow-run' && { rules: open.rules }),
      ...(by !== undefined && { by }),
    },
  ];
}

function runningStep(run: Run, agent: string, step: number): RunningStatus | undefined {
  const status = run.agents.get(agent)?.status;
  return status?.kind === 'running' && status.step === step ? status : undefined;
}

const isFor =
  (id: string) =>
  ({ request }: { readonly request: string }) =>
    request === id;
