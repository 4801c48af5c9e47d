/**
 * Rewinds a run on which no process works. It needs no terminal: the command line and the API use it.
 *
 * The event is journaled before any file changes. It names the files to restore, so that a
 * later command can finish after a crash at any moment: see `finishRestoring`.
 */

import { apply } from '../interpret/apply.ts';
import { Past } from '../interpret/past.ts';
import {
  planRewind,
  type RewindPlan,
  type RewindProblem,
  type WantedFiles,
} from '../interpret/plan-rewind.ts';
import type { Restoration, RunEvent, RunEventOf } from '../model/event.ts';
import { messageOf } from '../model/message-of.ts';
import type { RewindRequest } from '../model/rewind-request.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { Clock, FileHistory, Journal, RunStore, Worktrees } from '../ports.ts';

export interface RewindPorts {
  readonly store: Pick<RunStore, 'look' | 'lease'>;
  readonly clock: Clock;
  readonly files: FileHistory;
  readonly worktrees: Pick<Worktrees, 'make'>;
}

export interface RewindOptions {
  /** Whether files are restored as well. */
  readonly files: boolean;
  /** Called before anything changes. If it rejects, nothing changes. */
  readonly agree?: (plan: RewindPlan) => Promise<void>;
}

export interface RewoundRun {
  readonly run: Run;
  readonly plan: RewindPlan;
  readonly event: RunEventOf<'run-rewound'>;
}

/** Throws a UserError if the run cannot be rewound. */
export async function rewindRun(
  ports: RewindPorts,
  id: string,
  request: RewindRequest,
  { files, agree = async () => {} }: RewindOptions,
): Promise<RewoundRun> {
  const lease = await ports.store.lease(id);
  try {
    const { run: opened, isOwn, journal } = await lease.open();
    try {
      if (!isOwn) throw foreign(id);
      const run = files ? await finishRestoring(ports, opened, journal) : opened;
      const plan = await rewindPlan(ports, id, request);
      if (files) checkFiles(id, request, plan);
      await agree(plan);
      const kept = files ? await recordNow(ports, run, plan.files) : [];
      const event = { ...plan.event, files: kept };
      const rewound = await append(journal, run, event);
      return { run: await finishRestoring(ports, rewound, journal), plan, event };
    } finally {
      await journal.close();
    }
  } finally {
    await lease.release();
  }
}

/** Returns the plan of a rewind, and changes nothing. Throws a UserError if the run cannot be rewound. */
export async function rewindPlan(
  { store, clock, files }: Pick<RewindPorts, 'store' | 'clock' | 'files'>,
  id: string,
  request: RewindRequest,
): Promise<RewindPlan> {
  const past = new Past(request);
  const found = await store.look(id, (event, before) => past.follow(event, before));
  if (found.kind === 'damaged') throw found.problem;
  if (!found.isOwn) throw foreign(id);
  const roots = new Map<string, string | undefined>();
  const rootOf = (directory: string) => {
    if (!roots.has(directory)) roots.set(directory, files.rootOf(directory));
    return roots.get(directory);
  };
  const planned = planRewind(past, found.run, request, { at: clock.now(), rootOf });
  if (planned.ok) return planned.plan;
  throw refusal(found.run, request, planned.problem);
}

/** Restores the files of a rewind that was killed or failed before it restored them. */
export async function finishRestoring(
  { files, clock }: Pick<RewindPorts, 'files' | 'clock'>,
  run: Run,
  journal: Journal,
): Promise<Run> {
  if (run.restoring.length === 0) return run;
  for (const { root, tree } of run.restoring)
    await files.restore(root, tree).catch((error) => {
      throw unrestored(run, root, error);
    });
  return append(journal, run, { type: 'files-restored', at: clock.now() });
}

async function append(journal: Journal, run: Run, event: RunEvent): Promise<Run> {
  const after = apply(run, event);
  await journal.append([event], after);
  return after;
}

/** Stores the current files, so that the rewind can be undone. */
async function recordNow(
  { files, worktrees }: RewindPorts,
  run: Run,
  wanted: readonly WantedFiles[],
): Promise<readonly Restoration[]> {
  const kept: Restoration[] = [];
  for (const { root, tree, worktreeOf } of wanted) {
    if (tree === undefined) continue;
    const problem = worktreeOf === undefined ? undefined : await made(worktrees, run, worktreeOf);
    if (problem !== undefined) throw unrecorded(root, problem);
    const before = await files.record(root, tree).catch((error) => {
      throw unrecorded(root, messageOf(error));
    });
    kept.push({ root, before, tree });
  }
  return kept;
}

/** A worktree without work was removed when its agent ended. */
async function made(
  worktrees: Pick<Worktrees, 'make'>,
  { agents, endedAgents }: Run,
  id: string,
): Promise<string | undefined> {
  const worktree = (agents.get(id) ?? endedAgents.get(id))?.worktree;
  if (!worktree?.tree) return undefined;
  return worktrees.make(id, { ...worktree, wasSeen: false }, worktree.tree.path).done;
}

function checkFiles(id: string, request: RewindRequest, { files }: RewindPlan): void {
  const unknown = files.find(({ tree }) => tree === undefined);
  if (!unknown) return;
  const command = request.kind === 'undo' ? '--undo' : `--to ${request.agent}:${request.step}`;
  throw new UserError(
    'files-unknown',
    `The files of ${unknown.root} at that moment are not known: a step without a record worked there.`,
    `To rewind without files: raymond rewind ${id} ${command} --no-files. To choose another step: raymond show ${id} --steps. Runs with --checkpoints steps record every step.`,
  );
}

function refusal({ id }: Run, request: RewindRequest, problem: RewindProblem): UserError {
  const { agent, step } = request.kind === 'to' ? request : { agent: '', step: 0 };
  const steps = `To see the steps: raymond show ${id} --steps`;
  switch (problem) {
    case 'running':
      return new UserError(
        'run-running',
        `A step of ${id} was running when its process ended, so the run cannot be rewound yet.`,
        `Let it continue, then stop it: raymond resume ${id}`,
      );
    case 'no-agent':
      return new UserError('no-agent', `${id} has no agent ${agent}.`, steps);
    case 'no-step':
      return new UserError('no-step', `${agent} of ${id} has no step ${step}.`, steps);
    case 'abandoned':
      return new UserError(
        'step-abandoned',
        `A rewind has abandoned ${agent}:${step}.`,
        `To undo the last rewind: raymond rewind ${id} --undo`,
      );
    case 'nothing-to-undo':
      return new UserError('no-rewind', `${id} has no rewind to undo.`, steps);
    case 'no-checkpoint':
      return new UserError(
        'no-checkpoint',
        `The conversation at that moment cannot be restored: the agent reported no message at which it can be branched.`,
        `Choose an earlier step that begins a conversation. ${steps}`,
      );
  }
}

function foreign(id: string): UserError {
  return new UserError(
    'foreign-run',
    `You did not start ${id} here, so Raymond does not rewind it.`,
    `To accept it as yours: raymond resume ${id} --trust-run`,
  );
}

function unrecorded(root: string, why: string): UserError {
  return new UserError(
    'files-unrecorded',
    `The files of ${root} cannot be stored, so the rewind could not be undone: ${why}`,
    'Fix the cause and retry, or add --no-files. Nothing has changed.',
  );
}

function unrestored({ id }: Run, root: string, error: unknown): UserError {
  return new UserError(
    'files-unrestored',
    `The run is rewound, but the files of ${root} could not be restored: ${messageOf(error)}`,
    `Fix the cause, then run: raymond resume ${id}. To leave the files alone: raymond rewind ${id} --undo --no-files`,
  );
}
