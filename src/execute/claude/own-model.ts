/**
 * Finds the model that Claude Code uses when none is named. Several kinds of settings decide that, so
 * Raymond asks Claude Code itself, with a local command that calls no model.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { follow, type RunProcesses } from '../process/index.ts';
import type { Confinement } from '../rights/confinement.ts';
import type { AgentOptions } from './agent-options.ts';
import { OWN_MODEL_QUESTION, ownModelArguments } from './command.ts';
import { messageReader } from './messages.ts';

interface OwnModelRequest {
  /** The folder for the files of the process. */
  readonly folder: string;
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly skipsProject: boolean;
  readonly confine: () => Confinement | undefined;
}

export type OwnModels = (request: OwnModelRequest) => Promise<string | undefined>;

/** Remembers answers: the same directory and environment always give the same model. */
export function ownModels(processes: RunProcesses, options: AgentOptions = {}): OwnModels {
  const known = new Map<string, string>();
  return async (request) => {
    const key = JSON.stringify([request.cwd, request.env, request.skipsProject]);
    const args = ownModelArguments(options, request.skipsProject);
    const model = known.get(key) ?? (await askForModel(processes, args, request));
    if (model !== undefined) known.set(key, model);
    return model;
  };
}

const TIMEOUT_MS = 60_000;

async function askForModel(
  processes: RunProcesses,
  args: readonly string[],
  { folder, command, cwd, env, confine }: OwnModelRequest,
): Promise<string | undefined> {
  const own = confine();
  const launched = processes.launch({
    folder: join(folder, `own-model-${randomUUID().slice(0, 8)}`),
    command,
    args,
    cwd,
    env,
    confine: own && { ...own, secrets: undefined },
    stdin: 'pipe',
  });
  launched.stdin?.end(OWN_MODEL_QUESTION);
  const timer = setTimeout(() => void launched.stop(), TIMEOUT_MS);
  const read = messageReader();
  let model: string | undefined;
  try {
    for await (const chunk of follow(launched.stdout, { until: launched.ended })) {
      for (const happening of read(chunk)) {
        if (happening.kind === 'init') model = happening.model || undefined;
      }
    }
  } catch {
    // The process could not be started. The next turn fails for the same reason and reports it.
  }
  clearTimeout(timer);
  await launched.endLeftovers();
  return model;
}
