/** The only place where ports are built. */
import { randomUUID } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { claudeExecutor } from '../execute/claude/claude.ts';
import { isAlive, self } from '../execute/process.ts';
import { type RehearsingExecutors, rehearsal } from '../execute/rehearsal.ts';
import { scriptExecutor } from '../execute/script.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import { realDisk } from '../journal/disk.ts';
import type { RunCodec } from '../journal/file-journal.ts';
import { lockOwner, takeLock } from '../journal/lock.ts';
import { findProject, type Project, type RunPaths, runPaths } from '../journal/project.ts';
import { freeze, thaw } from '../journal/state-file.ts';
import { companionsOf, readCompanion } from '../load/companions.ts';
import { createLibrary } from '../load/load.ts';
import type { Settings } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { Platform, Workflow } from '../model/workflow.ts';
import { type Rehearsal, rehearsalSchema } from '../parse/rehearsal-file.ts';
import { findState } from '../parse/resolve.ts';
import type { Clock, Executor, FindDirectory, WorkflowLibrary } from '../ports.ts';
import type { TestPorts } from '../workflow-tests/run-test.ts';

export const disk = realDisk;

export const platform: Platform = process.platform === 'win32' ? 'windows' : 'unix';

export const clock: Clock = {
  now: () => Date.now(),
  at(time, callback) {
    // Timers hold at most 24 days, and a laptop that slept has to look at the clock again.
    let timer: NodeJS.Timeout;
    const look = () => {
      const left = time - Date.now();
      timer =
        left <= 0 ? setTimeout(callback, 0) : setTimeout(look, Math.min(left, LONGEST_NAP_MS));
    };
    look();
    return () => clearTimeout(timer);
  },
};

const LONGEST_NAP_MS = 60_000;

export const newId: () => string = randomUUID;

export const codec: RunCodec<Run> = {
  apply: (run, event) => apply(run ?? newRun, event),
  freeze,
  thaw: (json) => {
    const run = thaw(json);
    if (!run) throw new Error('This is not the state of a run.');
    return run;
  },
};

export function currentProject(cwd = process.cwd()): Promise<Project> {
  return findProject(disk, cwd);
}

export const pathsOf: (project: Project, run: string) => RunPaths = runPaths;

export function libraryFor(paths: RunPaths, cwd: string): WorkflowLibrary {
  return createLibrary({ cwd, platform, unpackInto: paths.source });
}

/** For whoever only looks at a workflow. */
export async function looseLibrary(): Promise<WorkflowLibrary> {
  const cwd = process.cwd();
  return libraryFor(pathsOf(await currentProject(cwd), 'unnamed'), cwd);
}

export function lockRun({ lock }: RunPaths) {
  return takeLock(disk, lock, self(), isAlive);
}

export function ownerOf({ lock }: RunPaths) {
  return lockOwner(disk, lock, isAlive);
}

export interface Executors {
  readonly prompt: Executor;
  readonly script: Executor;
  readonly rehearsal?: Pick<RehearsingExecutors, 'remember'> & {
    readonly replies: readonly string[];
  };
}

/** Who executes the steps of a run: the real agent, or a rehearsing one. */
export async function executors(
  settings: Settings,
  workflow: string,
  library: WorkflowLibrary,
  claudePath: string | undefined,
): Promise<Executors> {
  const script = scriptExecutor();
  if (!settings.rehearse) {
    return { prompt: claudeExecutor({ path: claudePath, environment: process.env }), script };
  }
  const rehearsalOf = rehearsalReader(settings, library);
  const { replies = [] } = (await rehearsalOf(workflow)) ?? {};
  const {
    prompt,
    script: played,
    remember,
  } = rehearsal({
    workflow: (ref) => library.get(ref),
    rehearsalOf,
    script,
  });
  return { prompt, script: played, rehearsal: { remember, replies } };
}

/** What tests of workflows are played with. */
export const testPorts: TestPorts = {
  script: scriptExecutor(),
  findDirectory: (path, from) => findDirectory(path, from),
  library: (cwd, unpackInto) => createLibrary({ cwd, platform, unpackInto }),
};

function rehearsalReader({ rehearsalFile }: Settings, library: WorkflowLibrary) {
  const read = new Map<string, Promise<Rehearsal | undefined>>();
  const given = async (file: string) => {
    const found = await readCompanion(rehearsalSchema, file);
    if (found) return found;
    throw new UserError('no-rehearsal', `There is no file ${file}.`, 'Name one that exists.');
  };
  const own = async (ref: string) => {
    const file = (await companionsOf(ref, library.scriptFolder)).rehearsal;
    const found = await readCompanion(rehearsalSchema, file);
    checkStates(file, found, library.get(ref));
    return found;
  };
  return (ref: string) => {
    const reading =
      read.get(ref) ?? (rehearsalFile === undefined ? own(ref) : given(rehearsalFile));
    read.set(ref, reading);
    return reading;
  };
}

/** An answer for a state that is not there would never be given, and nobody would notice. */
function checkStates(file: string, found: Rehearsal | undefined, workflow: Workflow | undefined) {
  for (const state of Object.keys(found?.answers ?? {})) {
    const resolved = workflow ? findState(workflow, state) : undefined;
    if (resolved && 'problem' in resolved && resolved.problem === 'missing')
      throw new UserError(
        'bad-file',
        `${file}: answers has ${state}. ${resolved.message}`,
        'Correct the name.',
      );
  }
}

export const findDirectory: FindDirectory = async (path, from) => {
  const absolute = resolve(from, path);
  try {
    if ((await stat(absolute)).isDirectory())
      return { found: true, path: await realpath(absolute) };
    return { found: false, problem: `${absolute} is not a directory.` };
  } catch {
    return { found: false, problem: `There is no directory ${absolute}.` };
  }
};
