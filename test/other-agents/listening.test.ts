// Another user of the machine cannot command an agent while it works.
import { expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import type { AcpName } from './acp-agents.ts';
import { acpWorld, fresh } from './acp-world.ts';
import { portsOf } from './listening.ts';

/** The others do not listen. */
const LISTENS: readonly AcpName[] = ['opencode'];
const AGENTS = inSuite<AcpName>(LISTENS, [
  ...(['codex-acp', 'claude-acp', 'gemini'] as const),
  ...(['qwen', 'pi', 'copilot'] as const),
]);

test.runIf(process.platform === 'linux').each(AGENTS)(
  'a request without its password gets no access to %s',
  async (name) => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { ask, file, model, world } = await acpWorld(name, () => ({
      text: 'done',
      after: answered,
    }));
    const turn = ask('work', fresh());
    await model.arrived(1);
    const ports = portsOf(`HOME=${file('home')}`);
    expect(ports.length > 0).toBe(LISTENS.includes(name));
    const seen = ports.flatMap((port) => PATHS.map((path) => statusOf(port, path)));
    expect(new Set(await Promise.all(seen))).toEqual(new Set(ports.length > 0 ? [401] : []));
    answer();
    expect(await turn).toMatchObject({ kind: 'answered', output: 'done' });
    await world.executor.close();
  },
);

/** Of the server of opencode. */
const PATHS = ['/config', '/session', '/event', '/doc', '/pty'];

async function statusOf(port: number, path: string): Promise<number> {
  const signal = AbortSignal.timeout(20_000);
  const { status, body } = await fetch(`http://127.0.0.1:${port}${path}`, { signal });
  await body?.cancel();
  return status;
}
