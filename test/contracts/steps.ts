// Steps for tests of executors.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Approvals } from '../../src/execute/agents/project-settings.ts';
import type { Protected } from '../../src/execute/agents/protected-files.ts';
import { isAlive } from '../../src/execute/process/index.ts';
import { readRecord } from '../../src/execute/process/record.ts';
import { stateNameSchema } from '../../src/model/state-name.ts';
import type { PromptStep } from '../../src/ports.ts';

/** The files of the project in a folder that executors protect. */
export function protecting(work: string, ...states: readonly string[]): Protected {
  return {
    projectFolder: join(work, '.raymond'),
    userFolder: join(work, '..', 'user'),
    reached: () => ({ files: states, text: '' }),
  };
}

export function place(what: string, cwd: string, folder: string, number: number) {
  const isNowhere = what === 'cannot begin';
  return { cwd: isNowhere ? '/no/such/directory' : cwd, folder: join(folder, String(number)) };
}

export function promptStep(
  parts: Pick<PromptStep, 'number' | 'prompt' | 'cwd' | 'folder'> & Partial<PromptStep>,
): PromptStep {
  return {
    kind: 'prompt',
    newWords: [],
    workflow: '/workflow',
    run: 'run',
    agent: `agent${parts.number}`,
    attempt: 1,
    state: z.parse(stateNameSchema, 'START.md'),
    environment: {},
    idleTimeoutMs: 0,
    session: { use: 'fresh', id: randomUUID() },
    places: [],
    taskFolder: parts.cwd,
    choices: {},
    budgetUsd: undefined,
    asksPermissions: false,
    granted: [],
    previousFolder: undefined,
    warm: true,
    ...parts,
  };
}

/** The processes of the first steps of a folder that still run. */
export function living(folder: string, steps: number): readonly number[] {
  return Array.from({ length: steps }, (_, index) => join(folder, String(index + 1)))
    .flatMap((step) => readRecord(step)?.identity ?? [])
    .filter(isAlive)
    .map(({ pid }) => pid);
}

/** No settings of a project are approved. */
export const NOTHING_APPROVED: Approvals = { root: '/', home: '/', files: {} };
