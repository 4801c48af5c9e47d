// Plays workflows with a real agent that speaks the Agent Client Protocol, in the real Raymond.
import { onTestFinished } from 'vitest';
import type { Cost } from '../../src/model/step-account.ts';
import { eventsOf, type RaymondSandbox, raymondSandbox } from '../real-agent/raymond-sandbox.ts';
import { type AcpName, type RealAgent, realAgent } from './acp-agents.ts';
import type { Asked, Reply, Script } from './scripted-api.ts';

export interface Play {
  readonly raymond: RaymondSandbox;
  readonly agent: RealAgent;
}

/** Prompts of states without an agent are taken by Claude Code, which answers with `claudeSays`. */
export async function play(
  name: AcpName,
  workflow: Readonly<Record<string, string>>,
  script: Script,
  claudeSays: Parameters<typeof raymondSandbox>[0]['script'] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<Play> {
  const agent = await realAgent(name, script);
  const raymond = await raymondSandbox({
    age: 'newer',
    workflow,
    script: claudeSays,
    environment: { ...agent.environment, ...more },
  });
  onTestFinished(async () => {
    await raymond.remove();
    await agent.remove();
  });
  return { raymond, agent };
}

/** Answers each prompt by its beginning. */
export function replies(by: Readonly<Record<string, Reply>>): Script {
  return ({ prompt }: Asked) => {
    const found = Object.entries(by).find(([start]) => prompt.startsWith(start));
    if (!found) throw new Error(`Nothing is scripted for: ${prompt}`);
    return found[1];
  };
}

export function costsIn({ raymond }: Play, run: string): readonly Cost[] {
  return eventsOf(raymond.journal(run), 'step-ended').map(({ cost }) => cost);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
