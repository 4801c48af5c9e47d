/**
 * Limits the disk space of steps, however long a run loops. An agent's newest steps stay unchanged.
 * An older script step is reduced to one line. An older prompt step cost money, so it is compressed.
 * After a crash at any moment, the next process finds the unfinished work and repeats it.
 *
 * No removed file is needed again. An agent has one step at a time. Only its newest step can be
 * running, or be the one that the next step retries.
 */
import { createReadStream, createWriteStream, readdirSync } from 'node:fs';
import { readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { olderFileOf } from '../../files/older-steps.ts';
import { appendOwnFile } from '../../files/own-file.ts';
import { attempt } from '../../model/attempt.ts';
import { ignore } from '../../model/event-kinds.ts';
import type { RunFolders, StepKeeper } from '../../ports.ts';
import { hasLivingProcess } from '../process/index.ts';
import { COMPRESSED, isPromptFolder, processFolderOf, remainsOf } from './step-folder.ts';

/** How many of an agent's newest steps stay unchanged. */
const KEPT_STEPS = 20;
/** How many of the most recently ended agents keep their newest steps. */
const KEPT_AGENTS = 100;

/** The steps of an agent that stay unchanged: the last `count` steps up to `newest`. */
interface KeptSteps {
  readonly newest: number;
  readonly count: number;
}

/** `takeOver` takes the folder of an old script step; it returns false if it does not want it. */
export function stepKeeper(
  folders: Pick<RunFolders, 'step'>,
  takeOver: (folder: string) => boolean = () => false,
): StepKeeper {
  const endedAgents: string[] = [];
  /** Prompt steps whose process may still write to them, by agent. */
  const postponed = new Map<
    string,
    { readonly kept: KeptSteps; readonly numbers: readonly number[] }
  >();
  let queue: Promise<unknown> = Promise.resolve();
  const enqueue = (work: () => Promise<unknown>) => {
    queue = queue.then(work).catch(() => {});
  };

  const retire = async (agent: string, kept: KeptSteps, numbers: readonly number[]) => {
    const waiting: number[] = [];
    for (const number of numbers) {
      // No caller waits for this work, so other work goes first.
      await nextTurn();
      const isDone = await retireStep(folders, agent, number, kept, takeOver).catch(() => true);
      if (!isDone) waiting.push(number);
    }
    if (waiting.length > 0) postponed.set(agent, { kept, numbers: waiting });
    else postponed.delete(agent);
  };
  const retireAll = async (agent: string, count: number) => {
    const numbers = await stepsIn(dirname(folders.step(agent, 0)));
    const kept = { newest: Math.max(0, ...numbers), count };
    const older = numbers.filter((number) => number <= kept.newest - count);
    await retire(agent, kept, older);
  };
  const agentEnded = (agent: string) => {
    endedAgents.push(agent);
    const oldest = endedAgents.length > KEPT_AGENTS ? endedAgents.shift() : undefined;
    if (oldest !== undefined) enqueue(() => retireAll(oldest, 0));
  };
  const stepEnded = (agent: string, step: number) => {
    if (step <= KEPT_STEPS) return;
    const kept = { newest: step, count: KEPT_STEPS };
    enqueue(() => {
      const numbers = postponed.get(agent)?.numbers ?? [];
      return retire(agent, kept, [...numbers, step - KEPT_STEPS]);
    });
  };

  return {
    event(event) {
      switch (event.type) {
        case 'agent-ended':
        case 'agent-stopped':
          agentEnded(event.agent);
          break;
        case 'step-ended':
        case 'step-failed':
        case 'step-interrupted':
          stepEnded(event.agent, event.step);
          break;
        default:
          ignore<
            'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'
          >(event);
      }
    },
    catchUp({ agents, endedAgents: ended }) {
      for (const [agent, { steps }] of [...agents, ...ended])
        if (steps > KEPT_STEPS) enqueue(() => retireAll(agent, KEPT_STEPS));
      for (const [agent] of [...ended].sort(([, a], [, b]) => a.at - b.at)) agentEnded(agent);
    },
    async close() {
      await queue;
      for (const [agent, { kept, numbers }] of postponed)
        enqueue(() => retire(agent, kept, numbers));
      await queue;
    },
  };
}

async function stepsIn(agentFolder: string): Promise<readonly number[]> {
  const names = await readdir(agentFolder).catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** False when the step must wait for its process. */
async function retireStep(
  folders: Pick<RunFolders, 'step'>,
  agent: string,
  number: number,
  kept: KeptSteps,
  takeOver: (folder: string) => boolean,
): Promise<boolean> {
  const folder = folders.step(agent, number);
  // Asking a thread for so little takes longer than the work.
  const names = attempt(() => readdirSync(folder));
  if (names === undefined) return true;
  if (!isPromptFolder(names)) {
    await removeScript(folder, names, takeOver);
    return true;
  }
  if (hasLivingProcess(folder) || isNeeded(folders, agent, folder, kept)) return false;
  await compress(folder, names);
  return true;
}

/** Whether the process of a step also answers the next step or one that stays unchanged. */
function isNeeded(
  folders: Pick<RunFolders, 'step'>,
  agent: string,
  folder: string,
  { newest, count }: KeptSteps,
): boolean {
  const others = Array.from({ length: count + 1 }, (_, n) => newest + 1 - n);
  return others.some((number) => processFolderOf(folders.step(agent, number)) === folder);
}

/** Writes the line before the removal: a crash in between only repeats the same line. */
async function removeScript(
  folder: string,
  names: readonly string[],
  takeOver: (folder: string) => boolean,
): Promise<void> {
  const line = remainsOf(folder);
  if (line !== undefined) appendOwnFile(olderFileOf(dirname(folder)), line);
  if (takeOver(folder)) return;
  try {
    for (const name of names) await unlink(join(folder, name));
    await rmdir(folder);
  } catch {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compress(folder: string, names: readonly string[]): Promise<void> {
  for (const name of COMPRESSED.filter((one) => names.includes(one))) {
    const file = join(folder, name);
    if ((await stat(file)).size > 0) {
      await rm(`${file}.gz.new`, { force: true });
      const draft = createWriteStream(`${file}.gz.new`, { mode: 0o600, flags: 'wx', flush: true });
      await pipeline(createReadStream(file), createGzip(), draft);
      await rename(`${file}.gz.new`, `${file}.gz`);
    }
    await unlink(file);
  }
  const isProcessFile = (name: string) => /^(process\.json|stdin|exit-\d+)$/.test(name);
  for (const name of names.filter(isProcessFile)) await unlink(join(folder, name));
}
