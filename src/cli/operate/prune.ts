import { runToChange } from '../../app/find-run.ts';
import { type PrunedRun, prune as pruneRuns } from '../../app/prune.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { readDuration } from '../../parse/transition.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { terminalDoor } from '../terminal/terminal-door.ts';

export interface PruneOptions {
  readonly olderThan?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly discardWorktrees?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Removes completed runs. With `--all` or by name, removes any run on which no process works. */
export async function prune(
  here: Here,
  names: readonly string[],
  options: PruneOptions,
): Promise<number> {
  const around = await here();
  const ids: string[] = [];
  for (const name of names) ids.push(await runToChange(around.store, name));
  const until = olderThan(around, options.olderThan);
  const named = names.length > 0 ? ids : undefined;
  const wanted = { ...options, ids: named, until, agreed: options.yes };
  const pruned = await pruneRuns(around, wanted, terminalDoor(options));
  if (!pruned) return 1;
  let [count, keeps] = [0, false];
  for await (const one of pruned) {
    count += 1;
    keeps ||= one.work.length > 0;
    report(one, options);
  }
  if (count === 0 && !options.json) stderr.say('There is nothing to prune.');
  return keeps ? 1 : 0;
}

function report({ id, work, trees }: PrunedRun, { dryRun = false, json }: PruneOptions): void {
  const isRemoved = work.length === 0;
  if (json) {
    stdout.json({
      workflow_id: id,
      removed: isRemoved && !dryRun,
      ...(trees.length > 0 && { worktrees: trees }),
      ...(!isRemoved && { kept: work }),
    });
    return;
  }
  for (const path of trees)
    stdout.say(`${dryRun ? 'would remove' : 'removed'} the worktree ${path}`);
  if (isRemoved) {
    stdout.say(`${dryRun ? 'would remove' : 'removed'} ${id}`);
    return;
  }
  stderr.say(
    `${dryRun ? 'would keep' : 'kept'} ${id}, because it contains work that exists nowhere else:`,
    ...work.map(({ path, why }) => `  ${path} ${why}`),
    `  Save it (commit, merge, push or move it), then run: raymond prune ${id}`,
    `  To delete it: raymond prune ${id} --discard-worktrees`,
  );
}

function olderThan({ clock }: Surroundings, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const age = readDuration(text);
  if (age === undefined)
    throw wrongUsage(`--older-than is "${text}".`, 'Write a time like 12h or 30d.');
  return clock.now() - age;
}
