/** Carries runs of a project with real files and real scripts, but without a terminal. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import {
  isAlive,
  type ProcessIdentity,
  processSpace,
  RunProcesses,
  self,
} from '../../src/execute/process/index.ts';
import { scriptedAgent } from '../../src/execute/rehearsal/scripted.ts';
import { scriptExecutor } from '../../src/execute/scripts/script.ts';
import { type CarriedRun, type Carrying, carryRun } from '../../src/host/carry-run.ts';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { fileRuns } from '../../src/journal/file-runs.ts';
import { fileStore } from '../../src/journal/file-store.ts';
import { freeze } from '../../src/journal/freeze-run.ts';
import { findProject, makeProject } from '../../src/journal/project.ts';
import { thaw } from '../../src/journal/thaw-run.ts';
import { userKey } from '../../src/journal/user-key.ts';
import { workspaceOf } from '../../src/journal/workspace.ts';
import { createLibrary } from '../../src/load/load.ts';
import { JOURNAL_VERSION, type RunEvent } from '../../src/model/event.ts';
import type { Input } from '../../src/model/input.ts';
import type { Clock, Lease, RunStore, WorkflowLibrary } from '../../src/ports.ts';
import { testGround } from '../../src/world/ground.ts';
import { STEP_KEY } from '../step-key.ts';

export interface ProjectHost {
  readonly store: RunStore;
  /** Begins a run of a workflow, or continues the one of that id. */
  carry(id: string, workflow: string, more?: Partial<Carrying>): Promise<CarriedRun>;
}

/** Two hosts in one process have different identities. */
export async function projectHost(
  folder: string,
  who: ProcessIdentity = self(),
): Promise<ProjectHost> {
  const project = await findProject(realDisk, folder, folder, `${folder}/user`);
  await makeProject(realDisk, project);
  const parts = { disk: realDisk, project, key: userKey(realDisk, join(folder, 'key')) };
  const runs = async () =>
    fileRuns({
      ...parts,
      codec: { apply: (run, event) => apply(run ?? newRun, event), freeze, thaw: thawed },
      lockWorld: () => ({
        self: { ...who, space: processSpace(), host: hostname() },
        clock,
        isAlive,
        report: () => {},
      }),
    });
  const store = fileStore({ ...parts, clock, runs });
  return {
    store,
    async carry(id, workflow, more = {}) {
      const workspace = workspaceOf(realDisk, project, id);
      const loose = createLibrary({ cwd: folder, platform: 'unix', agents: AGENTS });
      const library = loose.unpackingInto(workspace.source);
      const { ref } = await library.load(workflow);
      const lease = await store.lease(id);
      try {
        const processes = new RunProcesses(workspace.folder, { key: STEP_KEY });
        const { run, journal, first } = await begin(store, lease, {
          id,
          ref,
          cwd: folder,
          library,
        });
        return await carryRun(run, first, {
          ...{ library, journal, clock, confirm: lease.confirm, folders: workspace },
          executors: {
            prompt: scriptedAgent(() => ({ failure: { kind: 'refused', message: 'no prompts' } })),
            script: scriptExecutor(processes),
            endStrays: () => processes.endStrays(),
            leave: () => processes.leave(),
          },
          ground: await testGround(folder),
          mail: { mailbox: store.mailbox(id), pid: who.pid, report: () => {} },
          newId: () => 'no-session',
          observers: [],
          observerFailed: () => {},
          ...more,
        });
      } finally {
        await lease.release();
      }
    },
  };
}

interface Beginning {
  readonly id: string;
  readonly ref: string;
  readonly cwd: string;
  readonly library: WorkflowLibrary;
}

async function begin(store: RunStore, lease: Lease, { id, ref, cwd, library }: Beginning) {
  if ((await store.list()).includes(id)) {
    const { run, journal } = await lease.open();
    const { settings } = run;
    const resume: Input = { kind: 'resume', at: clock.now(), settings, input: undefined };
    return { run, journal, first: [resume] };
  }
  const state = library.get(ref)?.entry;
  if (!state) throw new Error('A workflow that was loaded has an entry.');
  const started: RunEvent = {
    type: 'run-started',
    version: JOURNAL_VERSION,
    at: clock.now(),
    ...{ run: id, workflow: ref, state, cwd, settings: newRun.settings, metadata: {} },
  };
  const run = apply(newRun, started);
  const { journal } = await lease.create([started], run);
  return { run, journal, first: [] };
}

function thawed(json: unknown) {
  const run = thaw(json);
  if (!run) throw new Error('This is not the state of a run.');
  return run;
}

const clock: Clock = {
  now: () => Date.now(),
  at(time, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, time - Date.now()), 2 ** 30));
    return () => clearTimeout(timer);
  },
};
