import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { claudeExecutor } from '../../src/execute/claude/claude.ts';
import { claudeAgent } from '../../src/execute/claude/declaration.ts';
import { RunProcesses } from '../../src/execute/process/index.ts';
import { rehearsal } from '../../src/execute/rehearsal/rehearsal.ts';
import { scriptedAgent } from '../../src/execute/rehearsal/scripted.ts';
import { scriptExecutor } from '../../src/execute/scripts/script.ts';
import type { SessionUse } from '../../src/model/event.ts';
import type { Live, PromptStep, ScriptStep } from '../../src/ports.ts';
import {
  type ExecutorUnderTest,
  executorContract,
  replaceFile,
} from '../contracts/agent-executor.ts';
import { living, NOTHING_APPROVED, place, promptStep, protecting } from '../contracts/steps.ts';
import { STEP_KEY } from '../step-key.ts';
import { type Age, claudeBinary, claudeSandbox, suiteAges } from './claude-sandbox.ts';
import { conversationLines, lastPrompt, until } from './raymond-sandbox.ts';
import { type Script, scriptedModel } from './scripted-model.ts';

const never = new Promise<void>(() => {});

executorContract('a rehearsing agent', {}, async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'raymond-executor-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  let executions = 0;
  const rehearsalOf = async (what: string) => {
    executions += 1;
    if (what === 'never ends') await never;
    if (what === 'cannot begin') throw new Error('There is no such rehearsal.');
    return { answers: { START: 'the answer' } };
  };
  const agent = () =>
    rehearsal({ workflow: () => undefined, rehearsalOf, scriptAnswers: () => [] }).prompt;
  let steps = 0;
  return {
    executor: agent(),
    again: agent,
    leave: () => {},
    step: (what) => {
      steps += 1;
      const own = { number: steps, prompt: what, ...place(what, folder, folder, steps) };
      return promptStep({ ...own, workflow: what });
    },
    begun: async (count) => void (await until(() => executions >= count)),
    executions: () => executions,
    left: () => [],
  };
});

executorContract('a scripted agent', {}, async () => {
  let executions = 0;
  const agent = () =>
    scriptedAgent((step) => {
      executions += 1;
      if (step.cwd === '/no/such/directory') throw new Error('There is no such directory.');
      const isEndless = step.kind === 'prompt' && step.prompt === 'never ends';
      return isEndless ? never.then(() => '') : 'the answer';
    });
  let steps = 0;
  return {
    executor: agent(),
    again: agent,
    leave: () => {},
    step: (what) => {
      steps += 1;
      return promptStep({ number: steps, prompt: what, ...place(what, '/', '/steps', steps) });
    },
    begun: async (count) => void (await until(() => executions >= count)),
    executions: () => executions,
    left: () => [],
  };
});

executorContract('a script', { survives: true }, async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'raymond-executor-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const marks = join(folder, 'marks');
  await mkdir(marks);
  await writeFile(join(folder, 'answers'), `touch ${marks}/$$\necho the answer`);
  await writeFile(join(folder, 'never ends'), `touch ${marks}/$$\nsleep 300 & sleep 300`);
  const executions = () => readdirSync(marks).length;
  const processes = new RunProcesses(folder, { key: STEP_KEY });
  let steps = 0;
  return {
    executor: scriptExecutor(processes),
    leave: () => processes.leave(),
    again: () => scriptExecutor(new RunProcesses(folder, { key: STEP_KEY })),
    step: (what): ScriptStep => {
      steps += 1;
      return {
        ...promptStep({ number: steps, prompt: '', ...place(what, folder, folder, steps) }),
        kind: 'script',
        file: join(folder, what === 'cannot begin' ? 'answers' : what),
        sha256: undefined,
        interpreter: 'bash',
        input: undefined,
      };
    },
    begun: async (count) => void (await until(() => executions() >= count)),
    executions,
    left: () => living(folder, steps),
  };
});

describe.each(suiteAges)('with the %s version', (age) => {
  executorContract('Claude Code', { can: claudeAgent.can }, async () => {
    const { world, model, ask } = await claude(age, (request) =>
      lastPrompt(request) === 'never ends' ? { content: '', after: never } : 'the answer',
    );
    const heard = () => model.requests.map((request) => conversationLines(request).map(words));
    return {
      ...world,
      begun: async (count) => void (await model.arrived(count)),
      converse: { ask, heard },
    };
  });
});

test('a process that died while it waited gets no prompt', async () => {
  const { world, model, ask } = await claude('newer', (_, turn) => `A${turn}`);
  await ask('Q0', { use: 'fresh', id: ID.main });
  const [pid = 0] = world.left();
  process.kill(-pid, 'SIGKILL');
  await until(() => isGone(pid));
  // The same agent continues, as in a chain of gotos.
  const outcome = await ask('Q1', { use: 'continue', id: ID.main }, { agent: 'agent1' });
  expect(outcome).toMatchObject({ kind: 'answered', output: 'A1' });
  expect(conversationLines(model.requests[1]).map(words)).toEqual(['Q0', 'A0', 'Q1']);
  await world.executor.close();
});

test('a process whose output was replaced while it waited gets no prompt, and people are told once', async () => {
  const { world, model, ask, lives, folder } = await claude('newer', (_, turn) => `A${turn}`);
  const agent = { agent: 'main' };
  await ask('Q0', { use: 'fresh', id: ID.main }, agent);
  const before = world.left();
  replaceFile(join(folder, '1', 'stdout'));
  for (const prompt of ['Q1', 'Q2']) await ask(prompt, { use: 'continue', id: ID.main }, agent);
  expect(conversationLines(model.requests[2]).map(words)).toEqual(['Q0', 'A0', 'Q1', 'A1', 'Q2']);
  expect(lives.filter(({ kind }) => kind === 'warning')).toHaveLength(1);
  expect(world.left()).not.toEqual(before);
  await world.executor.close();
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

const ID = { main: randomUUID() };
const words = (line: string) => line.replace(/^\w+: /, '');

async function claude(age: Age, script: Script) {
  const model = await scriptedModel(script);
  const sandbox = await claudeSandbox(model.url);
  const folder = join(sandbox.work, '..', 'steps');
  onTestFinished(async () => {
    await model.close();
    await sandbox.remove();
  });
  const make = (processes = new RunProcesses(folder, { key: STEP_KEY })) =>
    claudeExecutor({
      path: claudeBinary(age),
      environment: { ...sandbox.environment },
      processes,
      sessionsFolder: join(sandbox.work, '..', 'sessions'),
      mostProcesses: 16,
      approvals: NOTHING_APPROVED,
      protects: protecting(sandbox.work),
    });
  const processes = new RunProcesses(folder, { key: STEP_KEY });
  const executor = make(processes);
  const lives: Live[] = [];
  let steps = 0;
  const step = (prompt: string, session: SessionUse, more: Partial<PromptStep> = {}) => {
    steps += 1;
    return promptStep({
      number: steps,
      prompt,
      session,
      ...place(prompt, sandbox.work, folder, steps),
      ...more,
    });
  };
  const world: Omit<ExecutorUnderTest, 'begun'> = {
    executor,
    again: () => make(),
    leave: () => processes.leave(),
    step: (what) => step(what, { use: 'fresh', id: randomUUID() }),
    executions: () => model.requests.length,
    left: () => living(folder, steps),
  };
  const ask = (prompt: string, session: SessionUse, more: Partial<PromptStep> = {}) =>
    executor.start(step(prompt, session, more), (live) => lives.push(live)).outcome;
  return { world, model, ask, lives, folder };
}
