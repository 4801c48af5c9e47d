// Workers of a database that share no home, with the real Claude Code and a scripted model.
import { Fleet } from '../fleet/fleet.ts';
import { newDatabase } from '../postgres/new-database.ts';
import type { Ended, Started } from '../raymond.ts';
import { type Age, type ClaudeSandbox, claudeBinary, claudeSandbox } from './claude-sandbox.ts';
import { type Script, type ScriptedModel, scriptedModel } from './scripted-model.ts';

export interface RealWorker extends Started {
  readonly sandbox: ClaudeSandbox;
}

export interface RealFleet {
  readonly fleet: Fleet;
  readonly model: ScriptedModel;
  /** Starts a worker with its own home and settings of the agent. */
  worker(name: string, ...args: readonly string[]): Promise<RealWorker>;
  /** Runs a command in its own process. */
  raymond(...args: readonly string[]): Promise<Ended>;
  /** Stores the run `r` of the workflow `flow`. */
  begin(...options: readonly string[]): Promise<void>;
}

/** Everything is removed when `atEnd` calls back. */
export async function realFleet(
  age: Age,
  script: Script,
  files: Readonly<Record<string, string>>,
  atEnd: (remove: () => Promise<void>) => void,
  url?: string,
): Promise<RealFleet> {
  const model = await scriptedModel(script);
  atEnd(() => model.close());
  const fleet = await Fleet.open(url ?? (await newDatabase(atEnd)), files);
  const sandboxes: ClaudeSandbox[] = [];
  atEnd(async () => {
    await fleet.dispose();
    for (const sandbox of sandboxes) await sandbox.remove();
  });
  const raymond = (...args: readonly string[]) =>
    fleet.project.run(args, { env: { RAYMOND_DATABASE: fleet.url } });
  return {
    fleet,
    model,
    async worker(name, ...args) {
      const sandbox = await claudeSandbox(model.url, { RAYMOND_CLAUDE: claudeBinary(age) });
      sandboxes.push(sandbox);
      const { PATH: _, ...environment } = sandbox.environment;
      return { sandbox, ...fleet.worker(name, args, environment) };
    },
    raymond,
    async begin(...options) {
      const args = ['flow', '--detach', '--workflow-id', 'r', '--shared-directory', ...options];
      const { code, stderr } = await raymond(...args);
      if (code !== 0) throw new Error(stderr);
    },
  };
}
