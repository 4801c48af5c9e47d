/**
 * Processes that wait for their agent's next prompt. A process is used only while
 * the agent continues in the same session and directory. Otherwise it is ended in order, before
 * another process uses that session. A process of another session need not wait: the exit takes a
 * tenth of the time that the next process needs for its start.
 */
import { randomUUID } from 'node:crypto';
import { follow, type LaunchedProcess } from '../process/index.ts';
import type { Place } from '../turn/gate.ts';
import { WarmProcesses } from '../turn/warm-processes.ts';
import { LATE, within } from '../within.ts';
import type { ClaudeStep } from './choices.ts';
import { endInput, send, setEffort, setModel, setPermissionMode } from './command.ts';
import { messageReader } from './messages.ts';

export interface WarmProcess {
  readonly launched: LaunchedProcess;
  readonly folder: string;
  readonly session: string;
  /** What it got at its start and keeps: see `fixedOf`. */
  readonly fixed: string;
  /** The rules that people allowed for the run and that the process knows. */
  readonly granted: Set<string>;
  /** A turn that waits for a person needs no place. */
  readonly place: Place;
  readonly capUsd: number | undefined;
  effort: string | undefined;
  permissionMode: string;
  offset: number;
  /** The total in its newest result. It may include the cost of an earlier process. */
  totalUsd: number | undefined;
  /** The cost of this process alone. */
  spentUsd: number;
  /** A process that dies while it waits would lose the next prompt. */
  hasEnded: boolean;
}

export type Warm = WarmProcesses<WarmProcess, ClaudeStep>;

/** A process of another session need not wait: see the top of this file. */
export function warmProcesses(mostIdle?: number, mostIdleMs?: number): Warm {
  const collides = ({ session }: WarmProcess, step: ClaudeStep) =>
    sessionsOf(step).includes(session);
  return new WarmProcesses<WarmProcess, ClaudeStep>(
    { canServe, collides, end: endInOrder },
    mostIdle,
    mostIdleMs,
  );
}

/** The sessions that the step reads or continues. */
function sessionsOf({ session }: ClaudeStep): readonly string[] {
  return session.use === 'branch' ? [session.from, session.id] : [session.id];
}

/**
 * Applies the step's settings to a waiting process, and another model if one is given. False if the
 * process refuses or dies. It must not get the prompt then, because it would use other settings.
 */
export async function adjust(
  process: WarmProcess,
  step: ClaudeStep,
  model: string | undefined,
): Promise<boolean> {
  const { effort, permissionMode } = step;
  const changes = [
    ...(model === undefined ? [] : [(id: string) => setModel(id, model)]),
    ...(effort === undefined || effort === process.effort
      ? []
      : [(id: string) => setEffort(id, effort)]),
    ...(permissionMode === process.permissionMode
      ? []
      : [(id: string) => setPermissionMode(id, permissionMode)]),
  ];
  const requests = changes.map((change) => ({ id: randomUUID(), change }));
  for (const { id, change } of requests) send(process.launched, change(id));
  const isServing = await areGranted(process, new Set(requests.map(({ id }) => id)));
  process.effort = effort;
  process.permissionMode = permissionMode;
  return isServing;
}

const ANSWERS_MS = 30_000;

async function areGranted(process: WarmProcess, open: Set<string>): Promise<boolean> {
  if (open.size === 0) return true;
  const read = messageReader();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ANSWERS_MS);
  });
  const { launched } = process;
  const { stdout, ended } = launched;
  const until = Promise.race([ended, timeout]);
  try {
    for await (const chunk of follow(stdout, { from: process.offset, until })) {
      for (const happening of read(chunk)) {
        if (happening.kind !== 'control' || !open.has(happening.request)) continue;
        if (happening.error !== undefined) return false;
        open.delete(happening.request);
      }
      if (open.size === 0) return true;
    }
  } catch {
    // The output cannot be read, so the answers stay unknown.
  } finally {
    clearTimeout(timer);
  }
  return false;
}

function canServe(process: WarmProcess, step: ClaudeStep): boolean {
  return (
    step.warm &&
    step.session.use === 'continue' &&
    step.session.id === process.session &&
    step.previousFolder === undefined &&
    fixedOf(step) === process.fixed &&
    isSame(step.granted, process.granted) &&
    // An effort can be set, but not unset.
    !(process.effort !== undefined && step.effort === undefined) &&
    isWithin(process, step.budgetUsd)
  );
}

function isSame(granted: readonly string[], known: ReadonlySet<string>): boolean {
  return granted.length === known.size && granted.every((rule) => known.has(rule));
}

/** Everything that a process gets only once, at its start, as a text to compare. */
export function fixedOf(step: ClaudeStep): string {
  const { cwd, environment, allowedTools, disallowedTools, deny } = step;
  const { skipPermissions, asksPermissions, skipsProject, rights } = step;
  return JSON.stringify([
    ...[cwd, Object.entries(environment).sort(), allowedTools, disallowedTools, deny.fixed],
    ...[skipPermissions, asksPermissions, skipsProject],
    // Like the deny rules for states, the protected files stay those of its first prompt.
    ...(rights ? [rights.write, rights.hide, rights.network, rights.secrets] : []),
  ]);
}

/** A process has a fixed limit from its start. Other processes may have spent money since then. */
function isWithin({ capUsd, spentUsd }: WarmProcess, remainingUsd: number | undefined): boolean {
  if (remainingUsd === undefined) return true;
  if (capUsd === undefined) return false;
  const left = capUsd - spentUsd;
  // With little left, the turn would soon be interrupted.
  return left <= remainingUsd + 0.000_01 && left >= remainingUsd / 2;
}

const ORDERLY_MS = 5_000;

/** Claude Code finishes and exits when its input has ended. */
export async function endInOrder({ launched }: Pick<WarmProcess, 'launched'>): Promise<void> {
  endInput(launched);
  const how = await within(launched.ended, ORDERLY_MS);
  await (how === LATE ? launched.stop() : launched.endLeftovers());
}
