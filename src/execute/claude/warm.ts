/**
 * Processes that wait for their agent's next prompt. An agent has one at most, and it serves only
 * while the agent goes on in the same session and directory; otherwise it is ended, in order, before
 * anything else is done with that session.
 */
import type { PromptStep } from '../../ports.ts';
import type { LaunchedProcess } from '../process.ts';
import { setEffort, setModel, setPermissionMode } from './command.ts';

export interface WarmProcess {
  readonly launched: LaunchedProcess;
  readonly folder: string;
  readonly session: string;
  readonly cwd: string;
  readonly environment: string;
  readonly skipPermissions: boolean;
  readonly capUsd: number | undefined;
  model: string | undefined;
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

/** The lines that make a process serve a step as the step wants it. */
export function adjustments(
  process: WarmProcess,
  step: PromptStep,
  newId: () => string,
): readonly string[] {
  const lines: string[] = [];
  if (process.model !== step.model) lines.push(setModel(newId(), step.model));
  if (process.effort !== step.effort && step.effort !== undefined)
    lines.push(setEffort(newId(), step.effort));
  if (process.permissionMode !== step.permissionMode) {
    lines.push(setPermissionMode(newId(), step.permissionMode));
  }
  process.model = step.model;
  process.effort = step.effort;
  process.permissionMode = step.permissionMode;
  return lines;
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
    step.skipPermissions === process.skipPermissions &&
    // An effort can be set, but not be taken back.
    !(process.effort !== undefined && step.effort === undefined) &&
    isWithin(process, step.budgetUsd)
  );
}

export function environmentKey({ environment }: PromptStep): string {
  return JSON.stringify(Object.entries(environment).sort());
}

/** A process was told at its start what it may spend in all; meanwhile others may have spent. */
function isWithin({ capUsd, spentUsd }: WarmProcess, remainingUsd: number | undefined): boolean {
  if (remainingUsd === undefined) return true;
  return capUsd !== undefined && capUsd - spentUsd <= remainingUsd + 0.000_01;
}

const ORDERLY_MS = 5_000;

/** With its input closed it finishes and exits. */
async function endInOrder({ launched }: WarmProcess): Promise<void> {
  launched.stdin?.end();
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ORDERLY_MS);
  });
  const how = await Promise.race([launched.ended, patience]);
  clearTimeout(timer);
  await (how === 'late' ? launched.stop() : launched.endLeftovers());
}
