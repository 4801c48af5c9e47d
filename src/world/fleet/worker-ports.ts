/** Builds what a worker needs: its folder, its guard, its recovery, and the ports of each run. */

import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { foldersWithProcesses, RunProcesses, self } from '../../execute/process/index.ts';
import { projectArea } from '../../files/project-area.ts';
import { readPartSync } from '../../files/regular-file.ts';
import { storedSources } from '../../fleet/belongings.ts';
import type {
  FleetPorts,
  KeepWithStep,
  Limits,
  Recovery,
  RunPorts,
  Store,
  Way,
} from '../../fleet/ports.ts';
import { publish } from '../../fleet/worker-table.ts';
import { readText, replaceFile } from '../../journal/disk.ts';
import { isRunId } from '../../journal/run-id.ts';
import type { Run } from '../../model/run.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { UserError } from '../../model/user-error.ts';
import { publishNow } from '../../observe/publish-now.ts';
import type { StepKey } from '../../ports.ts';
import { nameOf } from '../../postgres/address.ts';
import { connectionsLeft, type Database, openDatabase } from '../../postgres/database.ts';
import { keptOf } from '../../postgres/head.ts';
import { postgresFiles } from '../../postgres/kept-files.ts';
import { openedBy } from '../../postgres/mailbox.ts';
import { listenTo } from '../../postgres/notices.ts';
import type { RunRow } from '../../postgres/run-row.ts';
import { rowSeals, UNCHECKED_ROWS } from '../../postgres/seals.ts';
import { NO_HEADS } from '../../postgres/seen-heads.ts';
import { keepOutput, keepStep } from '../../postgres/step-records.ts';
import { placedPorts } from '../../run/placed-ports.ts';
import { readConfiguration } from '../config/configuration.ts';
import { homeFolder } from '../config/user-folders.ts';
import { groundOf } from '../ground.ts';
import { loadWorkflows } from '../load-workflows.ts';
import { runCodec } from '../run-codec.ts';
import type { Surroundings } from '../surroundings.ts';
import { executors, filesOf, looseLibrary } from '../wire.ts';
import { headsOfUser } from './database-runs.ts';
import { endOldGuard, startGuard } from './guard.ts';
import { keptRuns, ownFolder } from './runs-of-worker.ts';
import { packStep } from './steps-elsewhere.ts';
import { placeOf as placeOfRun, sharedFolders, withSessions } from './travelling-run.ts';

export interface WorkerChoices {
  readonly name: string;
  readonly limits: Limits;
  readonly limitsForAll: Partial<Limits>;
  readonly leaseMs: number;
  /** Also executes runs that no key of this user has sealed. */
  readonly trustRuns: boolean;
}

export interface WorkerParts extends WorkerChoices {
  /** The folder of the project is the one of the worker. */
  readonly around: Surroundings;
  readonly database: Database;
  readonly recovery: Recovery;
  readonly onRenewed: (way: Way) => void;
}

export async function workerPorts(parts: WorkerParts): Promise<FleetPorts> {
  const { around, database, recovery, leaseMs, name, limits, limitsForAll } = parts;
  const { disk, project } = around;
  const folderOf = (run: string) => around.workspace(run).folder;
  const guardFile = join(project.folder, 'guard');
  return {
    database,
    recovery,
    leaseMs,
    limitsForAll,
    onRenewed: parts.onRenewed,
    runs: { codec: runCodec, rows: rowsOf(parts) },
    ...(parts.trustRuns
      ? { heads: NO_HEADS, openLetter: openedBy({ isSealed: async () => true }) }
      : { heads: headsOfUser(disk, around.report), openLetter: openedBy(around.key) }),
    notices: listenTo(database),
    worker: {
      name,
      limits,
      host: hostname(),
      pid: process.pid,
      place: await placeOf(around),
    },
    newId: around.newId,
    async guard() {
      await endOldGuard({ disk, file: guardFile });
      return startGuard({ disk, file: guardFile, worker: self(), leaseMs, folderOf });
    },
    openRun: (run, row, keep) => openRun(parts, run, row, keep),
    observer: (run, worker) =>
      publishNow({ clock: around.clock, publish: (now) => publish(database, run, worker, now) }),
    recordOf: (run, step, kind) => recordOf(around, run, step, kind),
    leftRuns: () => keptRuns(around),
    async endProcesses(runs, graceMs) {
      const folders = [...foldersWithProcesses(runs.filter(isRunId).map(folderOf))];
      await Promise.all(folders.map((folder) => new RunProcesses(folder).endStrays(graceMs)));
    },
    report: around.report,
  };
}

/** Workers leave these connections to commands, so that a run can be stored while all workers are busy. */
export const SPARED_CONNECTIONS = 2;

/** Of a worker at rest, and of a busy one. One listens. */
export const CONNECTIONS_OF_WORKER = { least: 2, most: 9 };

/** The connections that workers and commands can still open. Changes nothing in the database. */
export async function freeConnections(url: string) {
  const database = openDatabase({ url, firstPatienceMs: PATIENCE_MS });
  try {
    const { most, left } = await connectionsLeft(database);
    return { database: nameOf(database.address), most, left: Math.max(0, left) };
  } finally {
    await database.close();
  }
}

const PATIENCE_MS = 5_000;

export async function openRecovery(
  database: Database,
  url: string,
  report: (text: string) => void,
): Promise<Recovery> {
  // With these variables, DBOS would connect to its makers.
  for (const name of Object.keys(process.env)) if (/^DBOS_/.test(name)) delete process.env[name];
  const { dbosRecovery } = await import('../../fleet/dbos-recovery.ts');
  return dbosRecovery({ database, url, report });
}

const rowsOf = ({ around, trustRuns }: WorkerParts) =>
  trustRuns ? UNCHECKED_ROWS : rowSeals(around.key);

async function openRun(
  parts: WorkerParts,
  run: Run,
  row: RunRow,
  keep: KeepWithStep,
): Promise<RunPorts> {
  const { around, database } = parts;
  await ownFolder(around, database, run.id, row.born);
  const config = await readConfiguration(around.project);
  const of = { run, keep, around, database, rows: rowsOf(parts) };
  let newest = run;
  const { source } = around.workspace(run.id);
  const expected = (ref: string) => newest.workflowFiles.get(ref);
  const files = filesOf(around, run.id);
  const [root] = Object.keys(keptOf(row).trees);
  const place = await placeOfRun(of, { remote: row.remote, root }, files);
  const cwd = place?.toLocal(run.cwd) ?? run.cwd;
  const { agents } = config.options;
  const loose = looseLibrary(
    run.cwd,
    { agent: run.settings.agent, ...(agents && { agents }) },
    storedSources(database, run.id, expected, source, of.rows),
    place?.toLocal,
  );
  const library = loose.unpackingInto(source);
  const isLoaded = (state: Run) => [...state.workflowFiles].every(([ref]) => library.get(ref));
  const missing = ({ message, remedy }: UserError) => around.report(`${message} ${remedy}`);
  const load = async (state: Run) => {
    newest = state;
    if (!isLoaded(state)) await loadWorkflows(library, state, missing);
  };
  await loadWorkflows(library, run, missing);
  const { id, startedAt, settings, workflow } = run;
  const refs = [...run.workflowFiles].map(([ref]) => ref);
  const ofRun = { run: id, startedAt, settings, workflow, library, refs };
  const area = await projectArea(cwd, homeFolder());
  const chosen = await executors(around, { ...ofRun, given: config.options, root: area.root });
  const kept = postgresFiles(database, run.id);
  const ports = {
    library,
    load,
    pack: loose.pack,
    executors: withSessions(of, chosen),
    ground: await groundOf({ ...run, cwd }, library, around.workspace(run.id).tasks, kept),
    folders: around.workspace(run.id),
    kept,
    keeper: chosen.keeper,
    worktrees: chosen.worktrees,
    files: chosen.files && files,
  };
  if (place) return placedPorts(ports, place, () => newest);
  return { ...ports, ...(await sharedFolders(of, chosen)) };
}

/** All of a prompt, which cost money, and the output of a script. */
async function recordOf(
  around: Surroundings,
  run: string,
  step: StepKey,
  kind: 'prompt' | 'script',
): Promise<Store | undefined> {
  if (kind === 'prompt') {
    const packed = await packStep(around, run, step, kind);
    return (queries) => keepStep(queries, run, step, packed);
  }
  const { name } = STEP_FILES.stdout;
  try {
    const file = join(around.workspace(run).step(step.agent, step.step), name);
    const content = readPartSync(file, 0, Math.min(statSync(file).size, MOST_RECORD_BYTES));
    if (content.length === 0) return undefined;
    return (queries) => keepOutput(queries, run, step, name, content);
  } catch {
    // Some steps leave none.
    return undefined;
  }
}

const MOST_RECORD_BYTES = 1024 * 1024;

/** The id of the folder of a worker. It stays the same when the worker starts again. */
async function placeOf({ disk, project }: Surroundings): Promise<string> {
  const file = join(project.folder, 'place');
  const known = await readText(disk, file, 100);
  if (known) return known;
  const place = randomUUID();
  await replaceFile(disk, file, place);
  return place;
}
