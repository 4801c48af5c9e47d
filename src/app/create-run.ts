/**
 * Creates runs that another command has planned: variants of a run, and runs of an eval. The journal is created
 * as a whole, and then a process of its own, or workers, carry the run like any other.
 */

import type { NamedBytes } from '../files/packed-files.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import { readWorkflow } from '../interpret/read-workflows.ts';
import type { StoredSources } from '../load/load.ts';
import { JOURNAL_VERSION, type RunEvent, type RunEventOf, type Settings } from '../model/event.ts';
import { type Door, warnings } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { WorkflowLibrary } from '../ports.ts';
import { loadNamed } from '../world/load-workflows.ts';
import { unsealedNotice } from '../world/sealed-choices.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { looseLibrary } from '../world/wire.ts';
import { refuseFaulty } from './refuse-faulty.ts';
import { give } from './started-run.ts';

type Started = RunEventOf<'run-started'>;

export interface RunToCreate {
  readonly id: string;
  readonly cwd: string;
  /** The ref of the workflow. */
  readonly workflow: string;
  readonly settings: Settings;
  /** The options of the config files, those of the command, and both together. */
  readonly config: RunOptions;
  readonly given: RunOptions;
  readonly options: RunOptions;
  readonly replaced: ReplacedSources | undefined;
  /** Loads the workflows, and gives their refs. */
  load(library: WorkflowLibrary): Promise<readonly string[]>;
  /** What its first event says. */
  started(
    library: WorkflowLibrary,
  ): Omit<Started, 'type' | 'version' | 'at' | 'run' | 'workflow' | 'cwd' | 'settings'>;
  /** Makes what the run needs, before it exists. Only this process has its id. */
  readonly making?: (() => Promise<void>) | undefined;
  readonly created?: ((run: Run) => Promise<void>) | undefined;
}

/** Creates the run. Nothing works on it yet. Throws a UserError if it cannot begin. */
export async function createRun(
  around: Surroundings,
  wanted: RunToCreate,
  door: Door,
): Promise<void> {
  const { id, cwd, workflow, settings, options, given, config, replaced } = wanted;
  const { world, store, clock } = around;
  const loose = looseLibrary(
    cwd,
    { agent: settings.agent, ...agentsIn(options) },
    replaced?.stored,
  );
  const library = loose.unpackingInto(around.workspace(id).source);
  const refs = [...(await wanted.load(library))];
  for (const ref of [...refs]) refs.push(...(await loadNamed(library, ref)));
  const read = [...new Set(refs)].filter((ref) => library.get(ref));
  for (const ref of read) {
    const found = library.get(ref);
    if (found) refuseFaulty(loose, found, door, config);
  }
  const prepared = await world.prepare({
    ...{ id, cwd, startedAt: clock.now(), workflow, isNew: true, settings },
    ...{ refs: read, library, loose, options, given },
  });
  give(
    door,
    prepared.notices.filter(({ kind }) => kind !== 'hint'),
  );
  const kept = (await prepared.kept?.()) ?? { sources: replaced?.sources ?? [] };
  const lease = await store.lease(id);
  try {
    await wanted.making?.();
    const at = clock.now();
    const events: readonly RunEvent[] = [
      {
        type: 'run-started',
        version: JOURNAL_VERSION,
        ...{ at, run: id, workflow, cwd, settings },
        ...wanted.started(library),
      },
      ...read.flatMap((ref) => readWorkflow(library.get, ref, at)),
    ];
    const run = events.reduce(apply, newRun);
    const { journal, unsealed } = await lease.create(events, run, kept);
    try {
      give(door, warnings(unsealedNotice(id, unsealed)));
      await wanted.created?.(run);
    } finally {
      await journal.close();
    }
  } finally {
    await lease.release();
  }
}

const agentsIn = ({ agents }: RunOptions) => (agents ? { agents } : {});

export interface ReplacedSources {
  readonly stored: StoredSources;
  readonly sources: readonly { readonly ref: string; readonly archive: Uint8Array }[];
}

interface Replacing {
  readonly cwd: string;
  /** The workflow that is changed. */
  readonly ref: string;
  readonly files: readonly NamedBytes[];
  readonly options: RunOptions;
  /** Its files, if they are already changed ones. */
  readonly before?: StoredSources | undefined;
}

/** The changed workflow as an archive, which the run keeps. Undefined if nothing is changed. */
export async function replacedSources(
  around: Surroundings,
  id: string,
  { cwd, ref, files, options, before }: Replacing,
): Promise<ReplacedSources | undefined> {
  if (files.length === 0 && !before) return undefined;
  const { agent } = options;
  const loose = looseLibrary(cwd, { ...(agent && { agent }), ...agentsIn(options) }, before);
  const packed = await loose.packWith(ref, files);
  const isIn = (one: string) => one === packed.container || one.startsWith(`${packed.container}/`);
  const stored: StoredSources = {
    archive: async (container) => (container === packed.container ? packed.archive : undefined),
    expected: (one) => (isIn(one) ? packed.files : undefined),
    folder: around.workspace(id).source,
  };
  return { stored, sources: [{ ref: packed.container, archive: packed.archive }] };
}
