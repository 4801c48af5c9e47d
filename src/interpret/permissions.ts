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

/**
 * A request is recorded once: a process that adopts the step reports it again. If a rule of the run
 * allows the call, no one is asked.
 */
export function permissionRequested(
  run: Run,
  { at, agent, step }: StepRef,
  request: PermissionRequest,
): readonly RunEvent[] {
  const status = runningStep(run, agent, step);
  const isNew = status && ![...status.requests, ...status.decided].some(isFor(request.request));
  if (!isNew) return [];
  const allowed = allowedByRule(request, run.settings.granted ?? [], { at, agent, step });
  return [allowed ?? { type: 'permission-asked', at, agent, step, ...request }];
}

export function permissionWithdrawn(
  run: Run,
  { at, agent, step }: StepRef,
  request: string,
): readonly RunEvent[] {
  const isOpen = runningStep(run, agent, step)?.requests.some(isFor(request));
  return isOpen ? [{ type: 'permission-withdrawn', at, agent, step, request }] : [];
}

/**
 * A decision that the request does not offer gives no events: the request stays open. What is allowed for
 * the run also settles the same call of others that wait.
 */
export function permissionDecided(run: Run, input: PermissionDecided): readonly RunEvent[] {
  const { at, agent, step, request, decision, text, by } = input;
  const open = runningStep(run, agent, step)?.requests.find(isFor(request));
  if (!open || !isOffered(open, decision)) return [];
  const rules = decision === 'allow-run' ? (open.rules ?? []) : undefined;
  const answered: RunEvent = {
    ...{ type: 'permission-answered', at, agent, step, request, decision },
    ...(text !== undefined && { text }),
    ...(rules && { rules }),
    ...(by !== undefined && { by }),
  };
  return rules && open.isExact ? [answered, ...alsoAllowed(run, rules, input)] : [answered];
}

/** Other open requests for a call that is now allowed for the run. */
function alsoAllowed(
  run: Run,
  rules: readonly string[],
  { at, agent, request }: PermissionDecided,
): readonly RunEvent[] {
  const isDecided = (id: string, other: string) => id === agent && other === request;
  return [...run.agents].flatMap(([id, { status }]) =>
    status.kind === 'running'
      ? status.requests.flatMap((other) =>
          isDecided(id, other.request)
            ? []
            : (allowedByRule(other, rules, { at, agent: id, step: status.step }) ?? []),
        )
      : [],
  );
}

/** Undefined if the rules do not allow the call. Only the agent itself can compare rules that are not exact. */
function allowedByRule(
  { request, rules: [rule, ...others] = [], isExact }: PermissionRequest,
  granted: readonly string[],
  step: StepRef,
): RunEvent | undefined {
  const isWhole = isExact && rule !== undefined && others.length === 0;
  if (!isWhole || !granted.includes(rule)) return undefined;
  return { type: 'permission-answered', ...step, request, decision: 'allow', rule };
}

function runningStep(run: Run, agent: string, step: number): RunningStatus | undefined {
  const status = run.agents.get(agent)?.status;
  return status?.kind === 'running' && status.step === step ? status : undefined;
}

const isFor =
  (id: string) =>
  ({ request }: { readonly request: string }) =>
    request === id;
