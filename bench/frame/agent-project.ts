// The real Claude Code in an isolated environment. A scripted model on loopback answers immediately,
// so what is measured is the agent and Raymond, never a network or a model.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Age,
  type ClaudeSandbox,
  claudeBinary,
  claudeSandbox,
} from '../../test/real-agent/claude-sandbox.ts';
import { scriptedModel } from '../../test/real-agent/scripted-model.ts';
import { Unavailable } from './case.ts';
import { messageOf } from './rounds.ts';

export interface AgentProject {
  readonly sandbox: ClaudeSandbox;
  /**
   * Runs one prompt state that continues with this tag to itself. Returns the milliseconds of a later
   * state: from the end of the first step to the end of the last one.
   */
  laterState(tag: 'goto' | 'reset', states: number, options: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

const root = join(import.meta.dirname, '..', '..');
const bin = join(root, 'bin', 'raymond.js');
const installer = join(root, 'test', 'real-agent', 'install.js');

export async function agentProject(age: Age): Promise<AgentProject> {
  const binary = installed(age);
  const play = { tag: 'goto', left: 0 };
  const model = await scriptedModel(() => {
    play.left -= 1;
    return play.left > 0 ? `<${play.tag}>START</${play.tag}>` : '<result>done</result>';
  });
  const sandbox = await claudeSandbox(model.url, { RAYMOND_CLAUDE: binary });
  await mkdir(join(sandbox.work, 'workflow'));
  await writeFile(join(sandbox.work, 'workflow', 'START.md'), 'Continue.\n');
  return {
    sandbox,
    async laterState(tag, states, options) {
      Object.assign(play, { tag, left: states });
      const ends = await stepEnds(sandbox, options);
      const [first, last] = [ends[0], ends.at(-1)];
      if (ends.length !== states || first === undefined || last === undefined)
        throw new Error(`${ends.length} of ${states} steps ended`);
      return (last - first) / (states - 1);
    },
    async close() {
      await model.close();
      await sandbox.remove();
    },
  };
}

/** A fresh clone has no agent yet. */
function installed(age: Age): string {
  try {
    return claudeBinary(age);
  } catch {
    spawnSync(process.execPath, [installer], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  try {
    return claudeBinary(age);
  } catch (error) {
    throw new Unavailable(messageOf(error));
  }
}

async function stepEnds(sandbox: ClaudeSandbox, options: readonly string[]): Promise<number[]> {
  const words = [bin, 'workflow', '--json', '--no-debug', ...options];
  const child = spawn(process.execPath, words, {
    cwd: sandbox.work,
    env: sandbox.environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const events: { type: string; at: number }[] = lines.map((line) => JSON.parse(line));
  return events.filter(({ type }) => type === 'step-ended').map(({ at }) => at);
}
