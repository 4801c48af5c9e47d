/** What is stored with a new run, so that workers on other machines can execute it. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { addressOf } from '../../execute/git/remote.ts';
import { takeSnapshot } from '../../execute/git/snapshots.ts';
import type { LooseLibrary } from '../../load/load.ts';
import { messageOf } from '../../model/message-of.ts';
import { UserError } from '../../model/user-error.ts';
import type { KeptWithRun } from '../../ports.ts';
import type { Surroundings } from '../surroundings.ts';
import { filesOf } from '../wire.ts';

export interface NewRun {
  readonly id: string;
  /** The refs of the workflows that it has read. */
  readonly workflows: readonly string[];
  readonly library: Pick<LooseLibrary, 'pack'>;
  /** The remote through which its files travel, as the user names it. */
  readonly remote: string | undefined;
}

export async function keptWithRun(around: Surroundings, run: NewRun): Promise<KeptWithRun> {
  const packed = await Promise.all(run.workflows.map((ref) => run.library.pack(ref)));
  const archives = new Map(packed.map(({ container, archive }) => [container, archive]));
  const sources = [...archives].map(([ref, archive]) => ({ ref, archive }));
  const { remote } = run;
  return { sources, ...(remote !== undefined && (await filesSentTo(remote, around, run.id))) };
}

async function filesSentTo(named: string, around: Surroundings, id: string): Promise<KeptWithRun> {
  const { cwd } = around;
  const files = filesOf(around, id);
  const root = files.rootOf(cwd);
  if (root === undefined)
    throw new UserError(
      'no-repository',
      `${cwd} is in no git repository, so its files cannot travel through a remote.`,
      'Run "git init", or use --shared-directory in a directory that all workers share.',
    );
  const url = await addressOf(named, root, cwd);
  if (url === undefined)
    throw new UserError(
      'no-remote',
      'The --remote that you named is neither a remote of the repository nor an address that git can use.',
      'Name a remote of the repository, for example origin, or give its URL.',
    );
  const remote = { url, folder: join(around.workspace(id).folder, 'remote') };
  try {
    const snapshot = await takeSnapshot({ run: id, remote, files }, root, 'current');
    return { remote: url, trees: [{ root, snapshot }] };
  } catch (error) {
    throw new UserError(
      'no-remote',
      `The files cannot be sent to the remote: ${messageOf(error)}`,
      'Make sure that git can push there without asking, for example with an SSH key.',
    );
  } finally {
    // No later command on this machine sends files of the run.
    await rm(remote.folder, { recursive: true, force: true });
  }
}
