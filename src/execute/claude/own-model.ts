/**
 * The model that Claude Code takes when none is named. Settings of several kinds decide that, so it
 * is asked: a command of its own makes it say how it would begin, without any model being called.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { follow, type RunProcesses } from '../process/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { OWN_MODEL_QUESTION, ownModelArguments } from './command.ts';
import { messageReader } from './messages.ts';

export interface Asked {
  /** For the files of the process that is asked. */
  readonly folder: string;
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export type OwnModels = (asked: Asked) => Promise<string | undefined>;

/** Remembers what it was told: with one directory and environment the answer stays the same. */
export function ownModels(processes: RunProcesses, options: AgentOptions = {}): OwnModels {
  const args = ownModelArguments(options);
  const known = new Map<string, string>();
  return async (asked) => {
    const key = JSON.stringify([asked.cwd, asked.env]);
    const model = known.get(key) ?? (await ask(processes, args, asked));
    if (model !== undefined) known.set(key, model);
    return model;
  };
}

const LONGEST_MS = 60_000;

async function ask(
  processes: RunProcesses,
  args: readonly string[],
  { folder, command, cwd, env }: Asked,
): Promise<string | undefined> {
  const launched = processes.launch({
    folder: join(folder, `own-model-${randomUUID().slice(0, 8)}`),
    command,
    args,
    cwd,
    env,
    stdin: 'pipe',
  });
  launched.stdin?.end(OWN_MODEL_QUESTION);
  const timer = setTimeout(() => void launched.stop(), LONGEST_MS);
  const reader = messageReader();
  let model: string | undefined;
  try {
    for await (const chunk of follow(launched.stdoutFile, { until: launched.ended })) {
      for (const happening of reader.push(chunk.toString('utf8'))) {
        if (happening.kind === 'init') model = happening.model || undefined;
      }
    }
  } catch {
    // It could not be started; the turn that follows will say why.
  }
  clearTimeout(timer);
  await launched.endLeftovers();
  return model;
}
