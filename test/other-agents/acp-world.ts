// A real agent over the Agent Client Protocol as an executor, with a scripted model.
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { acpExecutor } from '../../src/execute/acp/acp.ts';
import { KNOWN_ACP } from '../../src/execute/acp/known.ts';
import { RunProcesses } from '../../src/execute/process/index.ts';
import type { SessionUse } from '../../src/model/event.ts';
import type { AskPerson, Executor, PromptStep, StepOutcome } from '../../src/ports.ts';
import type { ExecutorUnderTest } from '../contracts/agent-executor.ts';
import { living, NOTHING_APPROVED, place, promptStep, protecting } from '../contracts/steps.ts';
import { STEP_KEY } from '../step-key.ts';
import { type AcpName, realAgent } from './acp-agents.ts';
import type { Script } from './scripted-api.ts';

export async function acpWorld(name: AcpName, script: Script) {
  const known = KNOWN_ACP[name];
  if (!known) throw new Error(`${name} is not known.`);
  const { model, environment, remove } = await realAgent(name, script);
  const root = await realpath(await mkdtemp(join(tmpdir(), 'raymond-world-')));
  const made: Executor[] = [];
  onTestFinished(async () => {
    // Processes that wait for another prompt would outlive the test.
    await Promise.all(made.map((one) => one.close()));
    await remove();
    await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });
  const file = (path: string) => join(root, path);
  for (const folder of ['home', 'work/.raymond', 'user/tasks/a', 'work/flow'])
    await mkdir(file(folder), { recursive: true });
  await writeFile(file('work/flow/START.md'), 'x');
  const folder = file('steps');
  const make = (processes = new RunProcesses(folder, { key: STEP_KEY })) => {
    const one = acpExecutor({
      ...known,
      name,
      prices: {},
      environment: { ...environment, HOME: file('home') },
      processes,
      sessionsFolder: file('sessions'),
      approvals: NOTHING_APPROVED,
      protects: protecting(file('work'), file('work/flow/START.md')),
    });
    made.push(one);
    return one;
  };
  const processes = new RunProcesses(folder, { key: STEP_KEY });
  const executor = make(processes);
  onTestFinished(() => executor.close?.());
  let steps = 0;
  const step = (prompt: string, session: SessionUse, parts: Partial<PromptStep> = {}) => {
    steps += 1;
    const at = place(prompt, file('work'), folder, steps);
    const taskFolder = file('user/tasks/a');
    const whole = { number: steps, prompt, session, agent: 'main', taskFolder, ...at, ...parts };
    return promptStep(whole);
  };
  const world: Omit<ExecutorUnderTest, 'begun'> = {
    executor,
    again: () => make(),
    leave: () => processes.leave(),
    step: (what) => step(what, fresh(), { agent: `agent${steps}` }),
    executions: () => model.requests.length,
    left: () => living(folder, steps),
  };
  const ask = (
    prompt: string,
    session: SessionUse,
    parts: Partial<PromptStep> = {},
    person?: AskPerson,
  ): Promise<StepOutcome> => executor.start(step(prompt, session, parts), () => {}, person).outcome;
  /** The folder with the programs of the agent. */
  const bin = environment.PATH?.split(':')[0] ?? '';
  return { world, model, step, ask, file, bin };
}

export const fresh = (): SessionUse => ({ use: 'fresh', id: randomUUID() });

export function goOn({ account }: StepOutcome): SessionUse {
  if (!account.session) throw new Error('The turn has no session.');
  return { use: 'continue', id: account.session.id };
}
