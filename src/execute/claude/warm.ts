/**
 * Processes that wait for their agent's next prompt. An agent has one at most, and it serves only
 * while the agent goes on in the same session and directory; otherwise it is ended, in order, before
 * anything else is done with that session.
 */
import { randomUUID } from 'node:crypto';
import type { PromptStep } from '../../ports.ts';
import { follow, type LaunchedProcess } from '../process/index.ts';
import { setEffort, setModel, setPermissionMode } from './command.ts';
import { messageReader } from './messages.ts';

export interface WarmProcess {
  readonly launched: LaunchedProcess;
  readonly folder: string;
  readonly session: string;
  readonly cwd: string;
  readonly environment: string;
  readonly tools: string;
  readonly skipPermissions: boolean;
  readonly capUsd: number | undefined;
  effort: string | undefined;
  permissionMode: string;
  offset: number;
  /** The total in its newest result, which may go on from what an earlier process has spent. */
  totalUsd: number | undefined;
  /** What it has spent itself. */
  spentUsd: number;
  /** It may die while it waits, and would lose the next prompt. */
  hasEnded: boolean;
}

export class WarmProcesses {
  readonly #idle = new Map<string, { process: WarmProcess; timer: NodeJS.Timeout }>();
  readonly #ending = new Map<string, Promise<void>>();
  readonly #most: number;
  readonly #longestMs: number;

  constructor(most: number, longestMs: number) {
    this.#most = most;
    this.#longestMs = longestMs;
  }

  /** Keeps a process for its agent's next prompt; the one that waits longest makes room. */
  keep(agent: string, process: WarmProcess): void {
    const timer = setTimeout(() => void this.#end(agent), this.#longestMs);
    timer.unref();
    this.#idle.set(agent, { process, timer });
    const [oldest] = this.#idle.keys();
    if (this.#idle.size > this.#most && oldest !== undefined) void this.#end(oldest);
  }

  /** The agent's process if it can serve the step; one that cannot has ended when this resolves. */
  async take(step: PromptStep): Promise<WarmProcess | undefined> {
    const waiting = this.#idle.get(step.agent);
    if (!waiting) {
      // One that had to make room may still be at its session.
      await this.#ending.get(step.agent);
      return undefined;
    }
    if (!serves(waiting.process, step)) {
      await this.#end(step.agent);
      return undefined;
    }
    clearTimeout(waiting.timer);
    this.#idle.delete(step.agent);
    return waiting.process;
  }

  /** Ends those that wait longest until so many are being ended. */
  makeRoom(wanted: number): void {
    for (const agent of [...this.#idle.keys()]) {
      if (this.#ending.size >= wanted) return;
      void this.#end(agent);
    }
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
    const ending = endInOrder(waiting.process).finally(() => this.#ending.delete(agent));
    this.#ending.set(agent, ending);
    return ending;
  }
}

/**
 * Makes a process serve a step as the step wants it, with another model if one is given. False when
 * it refuses or dies: then it must not be asked, because it would answer under other rules.
 */
export async function adjust(
  process: WarmProcess,
  step: PromptStep,
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
  for (const { id, change } of requests) process.launched.stdin?.write(change(id));
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
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ANSWERS_MS);
  });
  const { stdoutFile, ended } = process.launched;
  const until = Promise.race([ended, patience]);
  try {
    for await (const chunk of follow(stdoutFile, { from: process.offset, until })) {
      for (const happening of reader.push(chunk.toString('utf8'))) {
        if (happening.kind !== 'control' || !open.has(happening.request)) continue;
        if (happening.error !== undefined) return false;
        open.delete(happening.request);
      }
      if (open.size === 0) return true;
    }
  } catch {
    // Its output cannot be read, so nothing is known.
  } finally {
    clearTimeout(timer);
  }
  return false;
}

function serves(process: WarmProcess, step: PromptStep): boolean {
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
    // An effort can be set, but not be taken back.
    !(process.effort !== undefined && step.effort === undefined) &&
    isWithin(process, step.budgetUsd)
  );
}

export function environmentKey({ environment }: PromptStep): string {
  return JSON.stringify(Object.entries(environment).sort());
}

/** Which tools it may use, and which files it may not change, is said once. */
export function toolsKey({ allowedTools, disallowedTools, workflow }: PromptStep): string {
  return JSON.stringify([allowedTools, disallowedTools, workflow]);
}

/** A process was told at its start what it may spend in all; meanwhile others may have spent. */
function isWithin({ capUsd, spentUsd }: WarmProcess, remainingUsd: number | undefined): boolean {
  if (remainingUsd === undefined) return true;
  return capUsd !== undefined && capUsd - spentUsd <= remainingUsd + 0.000_01;
}

const ORDERLY_MS = 5_000;

/** With its input closed it finishes and exits. */
export async function endInOrder({ launched }: WarmProcess): Promise<void> {
  launched.stdin?.end();
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ORDERLY_MS);
  });
  const how = await Promise.race([launched.ended, patience]);
  clearTimeout(timer);
  await (how === 'late' ? launched.stop() : launched.endLeftovers());
}
