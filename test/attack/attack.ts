/**
 * Attacks, played end to end with the built program. Each plants a payload that leaves a mark when
 * it runs, and returns the observed result. A `control` shows that the payload works where it is
 * allowed. Without it, a defence could pass because the payload was broken.
 */
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Project } from '../raymond.ts';

export interface Attack {
  /** It takes many seconds, and a table beside the source tests the same rule. */
  readonly isSlow?: true;
  readonly name: string;
  readonly expected: string;
  readonly files?: (scene: Scene) => Readonly<Record<string, string>>;
  readonly play: (scene: Scene) => Promise<string>;
}

export interface Scene {
  readonly project: Project;
  /**
   * The file that a payload creates. It is outside the project, like the other files of the user.
   */
  readonly mark: string;
  /** Runs Raymond with an agent that executes a command in its shell and then answers. */
  agent(
    turn: { readonly does?: string; readonly answers: string },
    ...args: readonly string[]
  ): ReturnType<Project['run']>;
  /** Whether the payload ran. */
  ran(): 'it ran' | 'it did not run';
}

export interface Played {
  readonly name: string;
  readonly expected: string;
  readonly seen: string;
}

export async function playAttack({ name, expected, files, play }: Attack): Promise<Played> {
  const project = new Project({}, 'a project');
  const mark = join(dirname(project.folder), 'mark');
  const scene: Scene = {
    project,
    mark,
    agent: ({ does = '', answers }, ...args) =>
      project.run(args, {
        env: {
          RAYMOND_CLAUDE: FAKE_CLAUDE,
          FAKE_CLAUDE: 'acts',
          FAKE_CLAUDE_COMMAND: does,
          FAKE_CLAUDE_ANSWER: answers,
          FAKE_CLAUDE_LOG: join(dirname(project.folder), 'agent.log'),
        },
      }),
    ran: () => (existsSync(mark) ? 'it ran' : 'it did not run'),
  };
  try {
    for (const [path, text] of Object.entries(files?.(scene) ?? {})) project.write(path, text);
    rmSync(mark, { force: true });
    return { name, expected, seen: await Promise.race([play(scene), longWait()]) };
  } finally {
    await project.dispose();
  }
}

/** An attack may also try to make Raymond run for ever. */
async function longWait(): Promise<string> {
  return delay(LONGEST_MS, 'it did not end', { ref: false });
}

const LONGEST_MS = 100_000;

const FAKE_CLAUDE = join(import.meta.dirname, '..', 'real-agent', 'fake-claude.js');
