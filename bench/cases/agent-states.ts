import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { userMessage } from '../../src/execute/claude/command.ts';
import { type Age, ages, claudeBinary, runClaude } from '../../test/real-agent/claude-sandbox.ts';
import { type AgentProject, agentProject } from '../frame/agent-project.ts';
import type { BenchCase, Measures } from '../frame/case.ts';

/** A process starts in 600 to 900 ms, so few states and rounds suffice. */
const STATES = 4;
const WARM_STATES = 21;

export const warmGoto: readonly BenchCase[] = ages.map((age) => ({
  name: `warm-goto-${age}`,
  title: `warm goto, real agent, ${age} version`,
  floor: 'a process per state',
  unit: 'ms',
  limits: 'ratio',
  target: 0.1,
  aim: 0.05,
  comparable: false,
  rounds: 3,
  prepare: () =>
    measured(age, (project) => ({
      floor: () => project.laterState('goto', STATES, ['--no-warm']),
      ours: () => project.laterState('goto', WARM_STATES, []),
    })),
}));

/** Says which part of a warm state is Raymond's: the rest is the agent's own. */
export const warmShare: readonly BenchCase[] = ages.map((age) => ({
  name: `warm-share-${age}`,
  title: `warm goto, real agent, ${age} version`,
  floor: 'the bare agent, each prompt immediately on standard input',
  unit: 'ms',
  limits: 'ratio',
  target: 1.3,
  comparable: false,
  rounds: 3,
  prepare: () =>
    measured(age, (project) => ({
      floor: () => bareWarmAgent(age, project),
      ours: () => project.laterState('goto', WARM_STATES, []),
    })),
}));

/** The sandbox belongs to the process, so a state that continues in it pays nothing. */
export const confinedGoto: BenchCase = {
  name: 'confined-goto',
  title: 'warm goto with rights, real agent, newer version',
  floor: 'the same without rights',
  unit: 'ms',
  limits: 'ratio',
  target: 1.15,
  comparable: false,
  rounds: 9,
  prepare: () =>
    measured('newer', (project) => ({
      floor: () => project.laterState('goto', WARM_STATES, []),
      ours: () => project.laterState('goto', WARM_STATES, ['--rights', '{}']),
    })),
};

export const confinedProcess: BenchCase = {
  name: 'confined-process',
  title: 'one process per state by reset with rights, more than without rights, newer version',
  floor: 'a process without rights',
  unit: 'ms',
  limits: 'value',
  target: 500,
  comparable: false,
  rounds: 3,
  prepare: () =>
    measured('newer', (project) => ({
      floor: () => project.laterState('reset', STATES, []),
      ours: async () =>
        (await project.laterState('reset', STATES, ['--rights', '{}'])) -
        (await project.laterState('reset', STATES, [])),
    })),
};

export const processPerState: readonly BenchCase[] = ages.flatMap((age) => [
  perState(age, `process-per-state-${age}`, '', []),
  perState(age, `process-per-state-no-warm-${age}`, ' with `--no-warm`', ['--no-warm']),
]);

function perState(age: Age, name: string, how: string, options: readonly string[]): BenchCase {
  return {
    name,
    title: `one process per state by reset${how}, real agent, ${age} version`,
    floor: 'the bare agent, prompt on standard input',
    unit: 'ms',
    limits: 'ratio',
    target: 1.05,
    comparable: false,
    rounds: 3,
    prepare: () =>
      measured(age, (project) => ({
        floor: () => bareAgent(age, project),
        ours: () => project.laterState('reset', STATES, options),
      })),
  };
}

async function measured(
  age: Age,
  measures: (project: AgentProject) => Measures,
): Promise<Measures> {
  const project = await agentProject(age);
  return { ...measures(project), close: () => project.close() };
}

const FORMAT = ['--output-format', 'stream-json', '--verbose'];

/** The same states in sequence, each started when the one before it has exited. */
async function bareAgent(age: Age, { sandbox }: AgentProject): Promise<number> {
  const begin = performance.now();
  for (let state = 1; state < STATES; state++) {
    const words = ['-p', ...FORMAT, '--session-id', randomUUID()];
    const { exit, stdout } = await runClaude(age, sandbox, words, 'Continue.\n');
    if (exit.code !== 0) throw new Error(`The bare agent exited with ${exit.code}: ${stdout}`);
  }
  return (performance.now() - begin) / (STATES - 1);
}

/** Gives one process its next prompt as soon as it has answered the last one. */
async function bareWarmAgent(age: Age, { sandbox }: AgentProject): Promise<number> {
  const words = ['-p', '--input-format', 'stream-json', ...FORMAT, '--session-id', randomUUID()];
  const child = spawn(claudeBinary(age), words, {
    cwd: sandbox.work,
    env: sandbox.environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exit = once(child, 'exit');
  const ask = () => child.stdin.write(userMessage('Continue.\n', randomUUID()));
  const answers: number[] = [];
  ask();
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).type !== 'result') continue;
    answers.push(performance.now());
    if (answers.length < WARM_STATES) ask();
    else child.stdin.end();
  }
  await exit;
  const [first, last] = [answers[0], answers[WARM_STATES - 1]];
  if (first === undefined || last === undefined)
    throw new Error(`The bare agent gave ${answers.length} of ${WARM_STATES} answers.`);
  return (last - first) / (WARM_STATES - 1);
}
