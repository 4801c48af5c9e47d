/**
 * Keeps what steps leave on disk within bounds, however long a run loops. An agent's newest steps stay
 * as they are. An older script step goes, up to one line; an older prompt step, which was paid for,
 * is compressed. A crash at any moment leaves work that the next process finds and does again.
 *
 * What is removed is never needed again: an agent has one step at a time, and a step can be running,
 * or be the try that the next step repeats, only while it is the agent's newest.
 */
import { appendFileSync, createReadStream, createWriteStream, rmSync } from 'node:fs';
import { readdir, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { olderFileOf } from '../files/older-steps.ts';
import type { RunEvent } from '../model/event.ts';
import type { RunFolders, StepKeeper } from '../ports.ts';
import { hasLivingProcess } from './process/index.ts';
import { COMPRESSED, isPromptFolder, processFolderOf, remainsOf } from './step-folder.ts';

/** How many of an agent's newest steps stay as they are. */
const KEPT_STEPS = 20;
/** How many of the agents that ended last keep their newest steps. */
const KEPT_AGENTS = 100;

/** The steps of an agent that stay as they are: the newest and some before it. */
interface Stay {
  readonly newest: number;
  readonly count: number;
}

export function stepKeeper(folders: Pick<RunFolders, 'step'>): StepKeeper {
  const endedAgents: string[] = [];
  /** Prompt steps whose process may still write to them, by agent. */
  const postponed = new Map<string, { readonly stay: Stay; readonly numbers: readonly number[] }>();
  let queue: Promise<unknown> = Promise.resolve();
  const enqueue = (work: () => Promise<unknown>) => {
    queue = queue.then(work).catch(() => {});
  };

  const retire = async (agent: string, stay: Stay, numbers: readonly number[]) => {
    const waiting: number[] = [];
    for (const number of numbers) {
      // Nobody waits for this, so all others come first.
      await turn();
      const isDone = await retireStep(folders, agent, number, stay).catch(() => true);
      if (!isDone) waiting.push(number);
    }
    if (waiting.length > 0) postponed.set(agent, { stay, numbers: waiting });
    else postponed.delete(agent);
  };
  const retireAll = async (agent: string, count: number) => {
    const numbers = await stepsIn(dirname(folders.step(agent, 0)));
    const stay = { newest: Math.max(0, ...numbers), count };
    const older = numbers.filter((number) => number <= stay.newest - count);
    await retire(agent, stay, older);
  };
  const agentEnded = (agent: string) => {
    endedAgents.push(agent);
    const oldest = endedAgents.length > KEPT_AGENTS ? endedAgents.shift() : undefined;
    if (oldest !== undefined) enqueue(() => retireAll(oldest, 0));
  };

  return {
    event(event) {
      if (event.type === 'agent-ended') agentEnded(event.agent);
      if (!isStepOver(event) || event.step <= KEPT_STEPS) return;
      const { agent, step } = event;
      const stay = { newest: step, count: KEPT_STEPS };
      enqueue(() => {
        const numbers = postponed.get(agent)?.numbers ?? [];
        return retire(agent, stay, [...numbers, step - KEPT_STEPS]);
      });
    },
    catchUp({ agents, endedAgents: ended }) {
      for (const [agent, { steps }] of [...agents, ...ended])
        if (steps > KEPT_STEPS) enqueue(() => retireAll(agent, KEPT_STEPS));
      for (const [agent] of [...ended].sort(([, a], [, b]) => a.at - b.at)) agentEnded(agent);
    },
    async close() {
      await queue;
      for (const [agent, { stay, numbers }] of postponed)
        enqueue(() => retire(agent, stay, numbers));
      await queue;
    },
  };
}

function isStepOver(
  event: RunEvent,
): event is Extract<RunEvent, { type: 'step-ended' | 'step-failed' | 'step-interrupted' }> {
  const { type } = event;
  return type === 'step-ended' || type === 'step-failed' || type === 'step-interrupted';
}

async function stepsIn(agentFolder: string): Promise<readonly number[]> {
  const names = await readdir(agentFolder).catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** False when it has to wait for its process. */
async function retireStep(
  folders: Pick<RunFolders, 'step'>,
  agent: string,
  number: number,
  stay: Stay,
): Promise<boolean> {
  const folder = folders.step(agent, number);
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) return true;
  if (!isPromptFolder(names)) {
    removeScript(folder);
    return true;
  }
  if (hasLivingProcess(folder) || isUsed(folders, agent, folder, stay)) return false;
  await compress(folder, names);
  return true;
}

/** Whether the process of a step answers one that stays as it is, or the next one. */
function isUsed(
  folders: Pick<RunFolders, 'step'>,
  agent: string,
  folder: string,
  { newest, count }: Stay,
): boolean {
  const others = Array.from({ length: count + 1 }, (_, n) => newest + 1 - n);
  return others.some((number) => processFolderOf(folders.step(agent, number)) === folder);
}

/** First the line, then the removal: a crash in between leaves the line twice, and the same. */
function removeScript(folder: string): void {
  const line = remainsOf(folder);
  if (line !== undefined) appendFileSync(olderFileOf(dirname(folder)), line, { mode: 0o600 });
  rmSync(folder, { recursive: true, force: true });
}

async function compress(folder: string, names: readonly string[]): Promise<void> {
  for (const name of COMPRESSED.filter((one) => names.includes(one))) {
    const file = join(folder, name);
    if ((await stat(file)).size > 0) {
      const draft = createWriteStream(`${file}.gz.new`, { mode: 0o600, flush: true });
      await pipeline(createReadStream(file), createGzip(), draft);
      await rename(`${file}.gz.new`, `${file}.gz`);
    }
    await unlink(file);
  }
  const isOver = (name: string) => /^(process\.json|exit-\d+|unstarted-\d+)$/.test(name);
  for (const name of names.filter(isOver)) await unlink(join(folder, name));
}
