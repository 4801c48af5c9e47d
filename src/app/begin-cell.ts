/** Begins the runs of an eval. Each works in a folder or a worktree of its own. */
import { cp, lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FIRST_AGENT, visitKey } from '../interpret/new-run.ts';
import type { Beginning, Cell, Settings } from '../model/event.ts';
import type { Door } from '../model/notice.ts';
import type { StateName } from '../model/state-name.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { EvalCase } from '../parse/eval-file.ts';
import { putFiles } from '../workflow-tests/project-files.ts';
import { makeRepository } from '../workflow-tests/test-repository.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { branchOf } from './begin-variant.ts';
import { createRun, replacedSources } from './create-run.ts';
import type { Variation } from './variations.ts';

/** The files with which a run begins. */
export type Ground =
  /** Those of a case, in a folder of its own. */
  | { readonly kind: 'files'; readonly of: Pick<EvalCase, 'files' | 'git'> }
  /** A copy of a folder. */
  | { readonly kind: 'copy'; readonly from: string }
  /** A commit, in a worktree of its own. `place` is the directory in it. */
  | {
      readonly kind: 'commit';
      readonly repository: string;
      readonly base: string;
      readonly place: string;
    };

export interface CellToBegin {
  readonly id: string;
  readonly cell: Cell;
  /** The ref of the workflow. */
  readonly workflow: string;
  readonly entry: StateName;
  readonly input: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly variation: Variation;
  readonly ground: Ground;
  readonly settings: Settings;
  readonly config: RunOptions;
  /** The options that differ from those of the config files. */
  readonly given: RunOptions;
  readonly options: RunOptions;
}

/** Where a run works that has no worktree. It is outside of the project, like the folders of agents. */
export const folderOf = (around: Pick<Surroundings, 'workspace'>, id: string): string =>
  join(around.workspace(id).tasks, 'eval');

/** Creates the run. Nothing works on it yet. Throws a UserError if it cannot begin. */
export async function beginCell(
  around: Surroundings,
  wanted: CellToBegin,
  door: Door,
): Promise<void> {
  const { id, workflow, entry, input, metadata, variation, ground, config, options, cell } = wanted;
  const cwd = ground.kind === 'commit' ? around.cwd : folderOf(around, id);
  const replaced = await replacedSources(around, id, {
    ...{ cwd, ref: workflow, files: variation.files, options },
  });
  await createRun(
    around,
    {
      ...{ id, cwd, workflow, replaced, config, options },
      ...{ settings: wanted.settings, given: wanted.given },
      load: async (library) => [(await library.load(workflow)).ref],
      started: () => ({
        ...{ state: entry, metadata, cell },
        ...(input !== undefined && { input }),
        ...(ground.kind === 'commit' && { beginning: beginningIn(around, wanted, ground) }),
      }),
      making: () => makeGround(cwd, ground),
    },
    door,
  );
}

/** An earlier attempt that was killed may have left a part of it. */
async function makeGround(folder: string, ground: Ground): Promise<void> {
  if (ground.kind === 'commit') return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (ground.kind === 'files') {
    const { files = {}, git } = ground.of;
    await putFiles(folder, { files });
    if (git) await makeRepository(folder, git);
    return;
  }
  // Links stay links, so nothing outside is copied. What is no file, such as a pipe, is left out.
  await cp(ground.from, folder, {
    recursive: true,
    verbatimSymlinks: true,
    async filter(path) {
      const found = await lstat(path);
      return found.isFile() || found.isDirectory() || found.isSymbolicLink();
    },
  });
}

function beginningIn(
  around: Surroundings,
  { id, workflow, entry, input }: CellToBegin,
  { repository, base, place }: Extract<Ground, { kind: 'commit' }>,
): Beginning {
  const path = join(around.workspace(id).worktrees, FIRST_AGENT);
  return {
    agents: [
      {
        ...{ id: FIRST_AGENT, workflow, state: entry, session: { kind: 'none' } },
        cwd: place === '' ? path : `${path}/${place}`,
        worktree: {
          branch: branchOf(id, FIRST_AGENT),
          tree: { path, repository, base },
          wasSeen: false,
        },
        ...{ stack: [], variables: {}, choices: {}, entries: {}, workers: [] },
        ...(input !== undefined && { input }),
        visits: { [visitKey(workflow, entry)]: 1 },
        ...{ attempts: 0, retries: 0 },
        status: { kind: 'ready', task: { kind: 'state' } },
      },
    ],
    ...{ ended: [], forkCounters: {} },
  };
}
