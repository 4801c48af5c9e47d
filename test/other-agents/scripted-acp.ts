// A scripted agent of the Agent Client Protocol as an executor.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { acpExecutor } from '../../src/execute/acp/acp.ts';
import type { AcpOptions } from '../../src/execute/acp/agent-process.ts';
import { RunProcesses } from '../../src/execute/process/index.ts';
import type { SessionUse } from '../../src/model/event.ts';
import type { Executor, Live, PromptStep, StepOutcome } from '../../src/ports.ts';
import type { ExecutorUnderTest } from '../contracts/agent-executor.ts';
import { living, NOTHING_APPROVED, place, promptStep, protecting } from '../contracts/steps.ts';
import { eventually } from '../eventually.ts';
import { STEP_KEY } from '../step-key.ts';

export const fresh = (): SessionUse => ({ use: 'fresh', id: randomUUID() });

export const scripted = (...abilities: string[]) => scriptedWith({}, ...abilities);

export async function scriptedWith(more: Partial<AcpOptions>, ...abilities: string[]) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'raymond acp ü-')));
  const made: Executor[] = [];
  onTestFinished(async () => {
    // Processes that wait for another prompt would outlive the test.
    await Promise.all(made.map((one) => one.close()));
    await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });
  const file = (name: string) => join(root, name);
  for (const name of ['home', 'work/.raymond', 'user/tasks/a', 'work/flow'])
    await mkdir(file(name), { recursive: true });
  await writeFile(file('work/flow/START.md'), 'x');
  await symlink(tmpdir(), file('work/link'));
  const folder = file('steps');
  const make = (processes = new RunProcesses(folder, { key: STEP_KEY })) => {
    const one = acpExecutor({
      name: 'scripted',
      command: [process.execPath, join(import.meta.dirname, 'scripted-acp-agent.js'), ...abilities],
      prices: {},
      environment: { PATH: process.env.PATH, SCRIPTED_HOME: file('home') },
      processes,
      sessionsFolder: file('sessions'),
      approvals: NOTHING_APPROVED,
      protects: protecting(file('work'), file('work/flow/START.md')),
      ...more,
    });
    made.push(one);
    return one;
  };
  const processes = new RunProcesses(folder, { key: STEP_KEY });
  const executor = make(processes);
  onTestFinished(() => executor.close?.());
  const lives: Live[] = [];
  let steps = 0;
  const step = (prompt: string, session: SessionUse, parts: Partial<PromptStep> = {}) => {
    steps += 1;
    const at = place(prompt, file('work'), folder, steps);
    const taskFolder = file('user/tasks/a');
    const whole = { number: steps, prompt, session, agent: 'main', taskFolder, ...at, ...parts };
    return promptStep(whole);
  };
  const asker = (by: typeof executor) => {
    function ask(given: PromptStep): Promise<StepOutcome>;
    function ask(
      prompt: string,
      session: SessionUse,
      parts?: Partial<PromptStep>,
    ): Promise<StepOutcome>;
    function ask(given: PromptStep | string, session?: SessionUse, parts?: Partial<PromptStep>) {
      const own = typeof given === 'string' && session ? step(given, session, parts) : given;
      if (typeof own === 'string') throw new Error('A prompt needs a session.');
      return by.start(own, (live) => lives.push(live)).outcome;
    }
    return ask;
  };
  const world: Omit<ExecutorUnderTest, 'begun'> & {
    later(): Promise<{ ask: ReturnType<typeof asker> }>;
  } = {
    executor,
    again: () => make(),
    later: async () => ({ ask: asker(make()) }),
    leave: () => processes.leave(),
    step: (what) => step(what, fresh(), { agent: `agent${steps}` }),
    executions: () => log().length,
    left: () => living(folder, steps),
  };
  /** The last line may not be complete. */
  const log = (): readonly { pid: number; model?: string; history: string[] }[] => {
    const name = file('home/log.jsonl');
    const lines = existsSync(name) ? readFileSync(name, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line));
  };
  return { world, step, ask: asker(executor), log, lives, file, close: () => executor.close() };
}

/** A turn that waits for the file `go`, and that its Raymond process has left. `later` is another process. */
export async function leftTurn(of: Awaited<ReturnType<typeof scriptedWith>>) {
  const { world, step, log, file } = of;
  const waits = step(`wait ${file('go')}`, fresh());
  const running = world.executor.start(waits, () => {});
  await eventually('the turn begins', () => log().length > 0);
  world.leave();
  await running.outcome;
  return { waits, later: world.again() };
}
