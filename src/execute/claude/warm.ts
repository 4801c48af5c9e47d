/**
 * Processes that wait for their agent's next prompt. An agent has at most one. It is used only while
 * the agent continues in the same session and directory. Otherwise it is ended in order, before
 * another process uses that session. A process of another session need not wait: the exit takes a
 * tenth of the time that the next process needs for its start.
 */
import { randomUUID } from 'node:crypto';
import type { Place } from '../gate.ts';
import { follow, type LaunchedProcess } from '../process/index.ts';
import type { ClaudeStep } from './choices.ts';
import { setEffort, setModel, setPermissionMode } from './command.ts';
import { messageReader } from './messages.ts';
import { endInput, send } from './process-input.ts';

export interface WarmProcess {
  readonly launched: LaunchedProcess;
  readonly folder: string;
  readonly session: string;
  readonly cwd: string;
  readonly environment: string;
  readonly tools: string;
  readonly skipPermissions: boolean;
  readonly asksPermissions: boolean;
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

export class WarmProcesses {
  readonly #idle = new Map<string, { process: WarmProcess; timer: NodeJS.Timeout }>();
  /** By session. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #maxIdle: number;
  readonly #maxIdleMs: number;

  constructor(maxIdle: number, maxIdleMs: number) {
    this.#maxIdle = maxIdle;
    this.#maxIdleMs = maxIdleMs;
  }

  /** Keeps a process for its agent's next prompt. Above the limit, ends the one that waits longest. */
  keep(agent: string, process: WarmProcess): void {
    const timer = setTimeout(() => void this.#end(agent), this.#maxIdleMs);
    timer.unref();
    this.#idle.set(agent, { process, timer });
    const [oldest] = this.#idle.keys();
    if (this.#idle.size > this.#maxIdle && oldest !== undefined) void this.#end(oldest);
  }

  /** The agent's process if it can serve the step. Otherwise no process uses the step's session now. */
  async acquire(step: ClaudeStep): Promise<WarmProcess | undefined> {
    const waiting = this.#idle.get(step.agent);
    if (waiting && canServe(waiting.process, step)) {
      clearTimeout(waiting.timer);
      this.#idle.delete(step.agent);
      return waiting.process;
    }
    void this.#end(step.agent);
    await Promise.all(sessionsOf(step).map((session) => this.#ending.get(session)));
    return undefined;
  }

  /** Ends the processes that wait longest until `wanted` processes are being ended. */
  makeRoom(wanted: number): void {
    for (const agent of [...this.#idle.keys()]) {
      if (this.#ending.size >= wanted) return;
      void this.#end(agent);
    }
  }

  /** Ends the process that has a session, if one waits. */
  async endSession(session: string): Promise<void> {
    for (const [agent, { process }] of [...this.#idle])
      if (process.session === session) void this.#end(agent);
    await this.#ending.get(session);
  }

  async close(): Promise<void> {
    for (const agent of [...this.#idle.keys()]) void this.#end(agent);
    await Promise.all(this.#ending.values());
  }

  #end(agent: string): Promise<void> {
    const waiting = this.#idle.get(agent);
    if (!waiting) return Promise.resolve();
    clearTimeout(waiting.timer);
    this.#idle.delete(agent);
    const { session } = waiting.process;
    const ending = endInOrder(waiting.process).finally(() => this.#ending.delete(session));
    this.#ending.set(session, ending);
    return ending;
  }
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
  const reader = messageReader();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ANSWERS_MS);
  });
  const { launched } = process;
  const { stdout, ended } = launched;
  const until = Promise.race([ended, timeout]);
  try {
    for await (const chunk of follow(stdout, { from: process.offset, until })) {
      for (const happening of reader.push(chunk.toString('utf8'))) {
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
    !process.hasEnded &&
    step.warm &&
    step.session.use === 'continue' &&
    step.session.id === process.session &&
    step.previousFolder === undefined &&
    step.cwd === process.cwd &&
    environmentKey(step) === process.environment &&
    toolsKey(step) === process.tools &&
    step.skipPermissions === process.skipPermissions &&
    step.asksPermissions === process.asksPermissions &&
    isSame(step.granted, process.granted) &&
    // An effort can be set, but not unset.
    !(process.effort !== undefined && step.effort === undefined) &&
    isWithin(process, step.budgetUsd)
  );
}

function isSame(granted: readonly string[], known: ReadonlySet<string>): boolean {
  return granted.length === known.size && granted.every((rule) => known.has(rule));
}

export function environmentKey({ environment }: ClaudeStep): string {
  return JSON.stringify(Object.entries(environment).sort());
}

/** A process gets its allowed tools, protected files and kinds of settings only once, at its start. */
export function toolsKey({
  allowedTools,
  disallowedTools,
  deny,
  skipsProject,
}: ClaudeStep): string {
  return JSON.stringify([allowedTools, disallowedTools, deny.fixed, skipsProject]);
}

/** A process has a fixed limit from its start. Other processes may have spent money since then. */
function isWithin({ capUsd, spentUsd }: WarmProcess, remainingUsd: number | undefined): boolean {
  if (remainingUsd === undefined) return true;
  return capUsd !== undefined && capUsd - spentUsd <= remainingUsd + 0.000_01;
}

const ORDERLY_MS = 5_000;

/** Claude Code finishes and exits when its input has ended. */
export async function endInOrder({ launched }: Pick<WarmProcess, 'launched'>): Promise<void> {
  endInput(launched);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ORDERLY_MS);
  });
  const how = await Promise.race([launched.ended, timeout]);
  clearTimeout(timer);
  await (how === 'late' ? launched.stop() : launched.endLeftovers());
}
