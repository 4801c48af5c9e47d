/** The machine of a reader who has installed the coding agent; a scripted model answers it. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { claudeBinary, claudeSandbox } from '../real-agent/claude-sandbox.ts';
import { type Script, type ScriptedModel, scriptedModel } from '../real-agent/scripted-model.ts';

export interface ClaudeOnPath {
  readonly model: ScriptedModel;
  /** Its `PATH` has only the agent. */
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export async function claudeOnPath(script: Script): Promise<ClaudeOnPath> {
  const model = await scriptedModel(script);
  const claude = await claudeSandbox(model.url);
  const bin = join(claude.configFolder, 'bin');
  mkdirSync(bin);
  symlinkSync(claudeBinary('newer'), join(bin, 'claude'));
  return {
    model,
    environment: { ...claude.environment, PATH: bin },
    async remove() {
      await model.close();
      await claude.remove();
    },
  };
}
