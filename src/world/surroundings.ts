/** The surroundings of commands: the project, the store of its runs, the clock. Built once. */
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { RunProcesses } from '../execute/process/index.ts';
import { type Disk, realDisk } from '../journal/disk.ts';
import { fileStore } from '../journal/file-store.ts';
import { rememberedJournals } from '../journal/heads.ts';
import { laterRecords } from '../journal/later.ts';
import {
  directoryOf,
  findProject,
  makeProject,
  type Project,
  projectIn,
} from '../journal/project.ts';
import { type UserKey, userKey } from '../journal/user-key.ts';
import { workspaceOf } from '../journal/workspace.ts';
import { UserError } from '../model/user-error.ts';
import type { Clock, Executor, RunStore, StepRecords, Workspace } from '../ports.ts';
import { chosenDatabase } from './config/chosen-database.ts';
import { homeFolder, userStateFolder } from './config/user-folders.ts';
import { here } from './here.ts';
import { steadyClock } from './steady-clock.ts';
import type { World } from './world.ts';

export interface Surroundings {
  readonly cwd: string;
  readonly project: Pick<Project, 'folder' | 'configFile'>;
  readonly world: World;
  readonly store: RunStore;
  /** The database of the world, if it has one. It may contain a password, so it is only for connections. */
  readonly databaseUrl?: string;
  readonly clock: Clock;
  /** Shows a warning that belongs to no run and to no command. */
  readonly report: (...texts: readonly string[]) => void;
  readonly newId: () => string;
  /** For the files of the user and the configuration; runs are reached through the store. */
  readonly disk: Disk;
  readonly scriptExecutor: Outside['scriptExecutor'];
  workspace(run: string): Workspace;
  /** The records of steps that ran on this machine, even if the run is in a database. */
  recordsHere(run: string): StepRecords;
  /** The processes of a run. Steps can be adopted only by a process that knows when the run began. */
  processes(run: string, startedAt?: number, isNew?: boolean): Promise<RunProcesses>;
  /** Creates the folder for runs, or throws a UserError. */
  makeProject(): Promise<void>;
  /** The workspace of a run in the project of another directory. Creates the folder for runs there. */
  workspaceIn(directory: string, run: string): Promise<Workspace>;
  /** The directories of all projects in which the user has runs in files. */
  projects(): Promise<readonly string[]>;
  /** The surroundings of a command in another project. */
  inProject(directory: string, database?: string): Promise<Surroundings>;
  /** Seals what the user chooses. */
  readonly key: UserKey;
  /** Reserves a folder for this process, or throws a UserError that names the owner. */
  lockFolder(folder: string): Promise<{ release(): Promise<void> }>;
}

/** The parts that a caller may replace. */
export interface Outside {
  readonly cwd?: string;
  readonly disk?: Disk;
  /** The database of the runs, or "none"; undefined leaves it to the config files. */
  readonly database?: string | undefined;
  /** It may have what the URL of a database leaves out. By default that of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The folder in which a worker keeps its steps, in place of the folder of a project. */
  readonly stateFolder?: string | undefined;
  readonly scriptExecutor?: ((processes: RunProcesses) => Executor) | undefined;
  readonly report?: Surroundings['report'];
  readonly clock?: Clock;
}

/** Commands call this when they need it, because some work without a project. */
export type Here = () => Promise<Surroundings>;

export async function surroundings({
  cwd: givenCwd = process.cwd(),
  disk = realDisk,
  database: given,
  environment = process.env,
  stateFolder,
  scriptExecutor,
  report = () => {},
  clock = ownClock,
}: Outside = {}): Promise<Surroundings> {
  // The journal keeps it, and other processes have other working directories.
  const cwd = resolve(givenCwd);
  const project =
    stateFolder === undefined
      ? await findProject(disk, cwd, homeFolder(), userStateFolder())
      : await projectIn(disk, stateFolder, userStateFolder());
  const workspace = (run: string) => workspaceOf(disk, project, run);
  const key = userKey(disk, join(userStateFolder(), 'key'));
  // Loaded when needed, because some commands need neither.
  const runs = async () =>
    (await import('./stored-runs.ts')).storedRuns({ disk, project, key, clock, report });
  const processes = async (run: string, startedAt?: number, isNew = false) => {
    const { RunProcesses } = await import('../execute/process/index.ts');
    const { folder } = workspace(run);
    if (startedAt === undefined) return new RunProcesses(folder);
    const { runSealKey } = await import('../execute/steps/step-seals.ts');
    // Without a key, a later process cannot adopt the steps. The run says so when it begins.
    const steps = await key.derived('steps').catch((error) => {
      if (error instanceof UserError) return undefined;
      throw error;
    });
    const sealKey = steps && runSealKey(steps, run, startedAt);
    return new RunProcesses(folder, { isNew, ...(sealKey && { key: sealKey }) });
  };
  const url = await chosenDatabase(given, environment, { project, report });
  const world: World =
    url === undefined
      ? here(fileStore({ disk, project, key, clock, runs }), () => around)
      : (await import('./fleet/fleet.ts')).fleet(url, () => around);
  const around: Surroundings = {
    cwd,
    project,
    world,
    store: world.store,
    ...(url !== undefined && { databaseUrl: url }),
    clock,
    report,
    newId: randomUUID,
    disk,
    scriptExecutor,
    workspace,
    recordsHere: (run) =>
      laterRecords(async () => {
        const { fileRecords } = await import('../journal/file-records.ts');
        return fileRecords(disk, { folders: workspace(run) });
      }),
    processes,
    makeProject: () => makeProject(disk, project),
    async workspaceIn(directory, run) {
      const other = await findProject(disk, directory, homeFolder(), userStateFolder());
      await makeProject(disk, other);
      return workspaceOf(disk, other, run);
    },
    async projects() {
      const journals = await rememberedJournals(disk, key);
      return [...new Set(journals.map(directoryOf))].filter((one) => one !== undefined).sort();
    },
    inProject: (directory, database) =>
      surroundings({ cwd: directory, disk, database, environment, report, clock }),
    key,
    lockFolder: async (folder) =>
      (await import('./stored-runs.ts')).lockFolder({ disk, clock, report }, folder),
  };
  return around;
}

const ownClock = steadyClock();
