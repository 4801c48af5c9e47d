/** The triggers of a project: which ones it has, whether the user has approved them, their last and next occasion. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../journal/disk.ts';
import { cureOf, reasonOf } from '../journal/disk-errors.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { messageOf } from '../model/message-of.ts';
import { shellWord } from '../model/shell-word.ts';
import {
  isOpen,
  type OccasionRecord,
  type ScheduleTrigger,
  type Trigger,
  type TriggerKey,
  triggerName,
} from '../model/trigger.ts';
import { UserError } from '../model/user-error.ts';
import { realPath } from '../options/leads-out.ts';
import { nextTime } from '../triggers/due.ts';
import { optionsForReading } from '../world/config/configuration.ts';
import { areTriggersApproved } from '../world/config/trust.ts';
import { projectWorkflows } from '../world/project-workflows.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { looseLibrary } from '../world/wire.ts';

/** A trigger that a workflow of a project has. */
export interface FoundTrigger {
  readonly key: TriggerKey;
  readonly trigger: Trigger;
  /** The path of the workflow, relative to the project. */
  readonly path: string;
  /** The name of the workflow, which its runs have in their ids. */
  readonly workflowName: string;
  /** Whether the user has approved the triggers of this workflow as they are. */
  readonly isApproved: boolean;
}

export interface ProjectTriggers {
  readonly triggers: readonly FoundTrigger[];
  /** Sentences about workflows that cannot be read, or are in another project. */
  readonly problems: readonly string[];
}

/** The surroundings must be those of the project itself. See `inProjectRoot`. */
export async function findTriggers(around: Surroundings): Promise<ProjectTriggers> {
  const root = around.cwd;
  const triggers: FoundTrigger[] = [];
  const problems: string[] = [];
  for (const path of await projectWorkflows(root)) {
    try {
      const { triggers: found, problem } = await readAt(around, path);
      if (problem !== undefined) problems.push(problem);
      const owner = ownerOf(root, path);
      if (owner === root) triggers.push(...found);
      else if (found.length > 0)
        problems.push(
          `The triggers of ${path} belong to the project ${owner}. To keep them: raymond up ${shellWord(owner)}`,
        );
    } catch (error) {
      problems.push(`Cannot read ${path}: ${messageOf(error)}`);
    }
  }
  return { triggers, problems };
}

/** Those of one workflow. */
export async function triggersAt(
  around: Surroundings,
  path: string,
): Promise<readonly FoundTrigger[]> {
  return (await readAt(around, path)).triggers;
}

async function readAt(
  around: Surroundings,
  path: string,
): Promise<{ readonly triggers: readonly FoundTrigger[]; readonly problem?: string }> {
  const root = around.cwd;
  const library = looseLibrary(root, await optionsForReading(async () => around));
  const { about, ref, name: workflowName, diagnostics } = await library.load(path);
  const { triggers = [] } = about;
  const isApproved = triggers.length > 0 && (await areTriggersApproved(ref, triggers));
  const found = triggers.map((trigger) => ({
    key: { project: root, workflow: ref, name: triggerName(trigger) },
    ...{ trigger, path, workflowName, isApproved },
  }));
  // A trigger that cannot be read is not among them, and nobody would miss it.
  const mayMiss = ({ severity, code }: Diagnostic) =>
    severity === 'error' && (about.triggers !== undefined || code === 'yaml');
  if (!diagnostics.some(mayMiss)) return { triggers: found };
  const problem = `${path} has errors, so triggers may be missing here and its runs may be refused: raymond lint ${shellWord(path)}`;
  return { triggers: found, problem };
}

/** Triggers belong to a project, so that two processes that were started in two of its folders agree. */
export async function inProjectRoot(around: Surroundings): Promise<Surroundings> {
  return around.inProject(rootOf(around), around.databaseUrl ?? 'none');
}

export function rootOf({ project }: Pick<Surroundings, 'project'>): string {
  const folder = dirname(project.folder);
  return realPath(folder) ?? folder;
}

/**
 * The project of a workflow. Two processes that keep a project and another one inside it know nothing of each other,
 * so only one of these projects may have the triggers of a workflow.
 */
function ownerOf(root: string, path: string): string {
  for (let folder = join(root, path); folder !== root; folder = dirname(folder))
    if (['.raymond', '.git'].some((name) => existsSync(join(folder, name)))) return folder;
  return root;
}

/** Throws a UserError if there is no folder that can be read. */
export async function checkFolder(directory: string): Promise<void> {
  try {
    await readdir(directory);
  } catch (error) {
    const file = { file: directory };
    if (hasCode(error, 'ENOENT'))
      throw new UserError(
        'no-folder',
        `There is no folder ${directory}.`,
        `Check the path, or create it: mkdir -p ${shellWord(directory)}`,
        file,
      );
    if (hasCode(error, 'ENOTDIR'))
      throw new UserError(
        'not-a-folder',
        `${directory} is not a folder.`,
        'Name the folder of a project, such as the one that contains this file.',
        file,
      );
    throw new UserError(
      'unreadable-folder',
      `Raymond cannot read the folder ${directory}: ${reasonOf(error)}.`,
      `${cureOf(error)}, then run the command again.`,
      file,
    );
  }
}

export interface ListedTrigger extends FoundTrigger {
  /** The newest occasion. */
  readonly last: OccasionRecord | undefined;
  /** The newest occasion that started no run, if it is newer than the last run. */
  readonly next: number | undefined;
  /** The next times of a schedule that is approved. */
  readonly upcoming: readonly number[];
  /** The occasions that wait for an earlier run. */
  readonly waiting: number;
}

export interface KnownTriggers {
  readonly triggers: readonly ListedTrigger[];
  /** The newest first. */
  readonly occasions: readonly OccasionRecord[];
  readonly problems: readonly string[];
}

/** Everything about the triggers of a project, with its newest occasions. Changes nothing. */
export async function triggers(
  given: Surroundings,
  mostOccasions = MOST_OCCASIONS,
): Promise<KnownTriggers> {
  const around = await inProjectRoot(given);
  try {
    const ledger = await around.world.occasions();
    const found = await findTriggers(around);
    const listed: ListedTrigger[] = [];
    for (const one of found.triggers) {
      const [last] = await ledger.newest(one.key, 1);
      const open = await ledger.open(one.key);
      const { trigger, isApproved } = one;
      const upcoming =
        trigger.kind === 'schedule' && isApproved ? nextTimes(trigger, around.clock.now()) : [];
      listed.push({
        ...{ ...one, last },
        ...{ next: upcoming[0], upcoming },
        waiting: open.filter(({ outcome }) => isOpen(outcome) && outcome.kind === 'due').length,
      });
    }
    const occasions = await ledger.newest({ project: around.cwd }, mostOccasions);
    return { triggers: listed, occasions, problems: found.problems };
  } finally {
    await around.world.close();
  }
}

const MOST_OCCASIONS = 200;
const MOST_TIMES = 10;

function nextTimes(trigger: ScheduleTrigger, now: number): readonly number[] {
  const times: number[] = [];
  let time = nextTime(trigger, now);
  while (time !== undefined && times.length < MOST_TIMES) {
    times.push(time);
    time = nextTime(trigger, time);
  }
  return times;
}
