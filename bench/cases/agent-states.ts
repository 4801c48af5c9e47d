import { randomUUID } from 'node:crypto';
import { type Age, ages, runClaude } from '../../test/real-agent/claude-sandbox.ts';
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

export const processPerState: readonly BenchCase[] = ages.map((age) => ({
  name: `process-per-state-${age}`,
  title: `one process per state, real agent, ${age} version`,
  floor: 'the bare agent, prompt on standard input',
  unit: 'ms',
  limits: 'ratio',
  target: 1.05,
  comparable: false,
  rounds: 4,
  prepare: () =>
    measured(age, (project) => ({
      floor: () => bareAgent(age, project),
      ours: () => project.laterState('reset', STATES, ['--no-warm']),
    })),
}));

async function measured(
  age: Age,
  measures: (project: AgentProject) => Measures,
): Promise<Measures> {
  const project = await agentProject(age);
  return { ...measures(project), close: () => project.close() };
}

/** The same states in sequence, each started when the one before it has exited. */
async function bareAgent(age: Age, { sandbox }: AgentProject): Promise<number> {
  const begin = performance.now();
  for (let state = 1; state < STATES; state++) {
    const format = ['--output-format', 'stream-json', '--verbose'];
    const words = ['-p', ...format, '--session-id', randomUUID()];
    const { exit, stdout } = await runClaude(age, sandbox, words, 'Continue.\n');
    if (exit.code !== 0) throw new Error(`The bare agent exited with ${exit.code}: ${stdout}`);
  }
  return (performance.now() - begin) / (STATES - 1);
}
