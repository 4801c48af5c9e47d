/** Runs in a database. Workers on any machine execute them, so this process only stores and shows them. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refsOf } from '../../execute/git/file-history.ts';
import { forget, isUsable, withoutSecrets } from '../../execute/git/remote.ts';
import { keepSource, storedSources } from '../../fleet/belongings.ts';
import { listWorkers } from '../../fleet/worker-table.ts';
import { attendRun } from '../../host/attend-run.ts';
import { openRun } from '../../host/open-run.ts';
import { apply } from '../../interpret/apply.ts';
import { interpret } from '../../interpret/interpret.ts';
import { laterStore } from '../../journal/later.ts';
import { messageOf } from '../../model/message-of.ts';
import { hints, warnings } from '../../model/notice.ts';
import type { Run } from '../../model/run.ts';
import { shellWord } from '../../model/shell-word.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { type PostgresOccasions, postgresOccasions } from '../../postgres/occasions.ts';
import { ownRun } from '../../postgres/own-run.ts';
import { findRow } from '../../postgres/run-row.ts';
import { copySession } from '../../postgres/sessions.ts';
import { checkAbilities, liftedRights, travelWarnings } from '../check-agents.ts';
import { notifiers } from '../notify.ts';
import { unsealedNotice } from '../sealed-choices.ts';
import type { Surroundings } from '../surroundings.ts';
import { userName } from '../user-name.ts';
import { filesOf } from '../wire.ts';
import type { BegunRun, HeldRun, IntendedRun, PreparedRun, World } from '../world.ts';
import { type DatabaseRuns, databaseRuns } from './database-runs.ts';
import { keptWithRun } from './kept-with-run.ts';
import { stepsAnywhere } from './steps-elsewhere.ts';

/** Connects when it is first needed. */
export function fleet(url: string, around: () => Surroundings): World {
  let opened: Promise<DatabaseRuns> | undefined;
  const runs = () => {
    opened ??= databaseRuns(url, around());
    return opened;
  };
  let occasions: PostgresOccasions | undefined;
  const ledger = async () => {
    occasions ??= postgresOccasions((await runs()).database);
    return occasions;
  };
  const store = laterStore(async () => (await runs()).store);
  return {
    store,
    async connect() {
      await runs();
    },
    workers: async () => listWorkers((await runs()).database),
    occasions: ledger,
    shareTriggers: async (directory) => (await ledger()).register(directory),
    close: async () => (await opened)?.database.close(),
    steps: async () => stepsAnywhere(around(), async () => (await runs()).database),
    async files(run) {
      const files = filesOf(around(), run);
      const row = await findRow((await runs()).database, run);
      if (!row || row.remote === null) return files;
      const refuse = () =>
        Promise.reject(new Error('they travel between the machines of the workers'));
      return { ...files, record: refuse, restore: refuse };
    },
    async sources(run) {
      const expected = (ref: string) => run.workflowFiles.get(ref);
      const { source } = around().workspace(run.id);
      return storedSources((await runs()).database, run.id, expected, source);
    },
    async branchSessions(from, to, sessions) {
      const { database, parts } = await runs();
      for (const session of sessions)
        await database.transaction((queries) =>
          copySession(queries, parts.rows, { from: from.id, to: to.id, session }),
        );
    },
    keepsSources: true,
    // The worktrees are on the machines of the workers.
    lostTrees: async () => [],
    countLost: async () => 0,
    // The folder of the run is on the machine of a worker. So it can be any run.
    isInside: async (run) => (await around().processes(run)).includeAnyRun(),
    async stop(run, how, owner) {
      const asked = await openRun(store, run);
      await store.mailbox(run).post({ kind: 'stop', how, pid: owner.pid });
      return () => ended(store, asked.run);
    },
    forget: async (run) => forgetSnapshots(await runs(), run),
    async carried(id, trusts, options) {
      const found = await openRun(store, id);
      const { run, isOwn } = found;
      if (run.status.kind === 'ended' || (!isOwn && trusts)) return undefined;
      return { found, begun: begun(around(), { options }, run, run.seq + 1) };
    },
    tidy: async () => [],
    prepare: (intended) => prepare(around(), runs, intended),
    inBackground: async () => undefined,
  };
}

/** No single process owns a run, so it has stopped when it has ended. */
async function ended(store: World['store'], asked: Run): Promise<'stopped'> {
  let run = asked;
  const over = new AbortController();
  for await (const event of store.watch(run.id, asked.seq, over.signal)) {
    run = apply(run, event);
    if (run.status.kind === 'ended') break;
  }
  return 'stopped';
}

async function prepare(
  around: Surroundings,
  runs: () => Promise<DatabaseRuns>,
  intended: IntendedRun,
): Promise<PreparedRun> {
  const { id, isNew, library, loose, refs, settings, options } = intended;
  const { remote, sharedDirectory } = options;
  if (settings.rehearse)
    throw wrongUsage(
      'A rehearsal runs on this machine, and not in a database.',
      'Add --database none.',
    );
  // The agents are on the machines of the workers.
  const checked = { library, refs, settings, given: options };
  const texts = [
    ...checkAbilities(checked),
    ...travelWarnings(checked),
    ...(await liftedRights(checked)),
  ];
  if (isNew) await around.workspace(id).check();
  const isUndeclared = isNew && remote === undefined && !sharedDirectory;
  return {
    notices: [...warnings(texts), ...hints(isUndeclared ? [PLACE_NOTICE] : [])],
    kept: () => keptWithRun(around, { id, workflows: refs, library: loose, remote }),
    async begin(run, held) {
      const { after, unsealed } = await continued(await runs(), run, held, intended);
      await held.journal.close();
      await held.lease.release();
      return begun(around, intended, after, isNew ? 1 : run.seq + 1, unsealed);
    },
  };
}

const PLACE_NOTICE =
  'Workers on other machines need this directory at the same path. Declare it with --shared-directory, or let the files travel through git with --remote.';

/** Workers take the run from here, so this stores everything that they need. */
async function continued(
  { database, parts }: DatabaseRuns,
  run: Run,
  { first, lease, journal, accepted = [] }: HeldRun,
  { id, settings, library, loose }: IntendedRun,
) {
  const [input] = first;
  if (!input) return { after: run, unsealed: [] };
  const events = interpret((ref) => library.get(ref), run, input);
  const after = events.reduce(apply, run);
  const unsealed = unsealedNotice(id, await lease.seal({ ...run, settings }));
  if (accepted.length > 0)
    await database.repeatable(async (queries) => {
      for (const ref of accepted) await keepSource(queries, parts.rows, id, ref, loose.pack);
    });
  await journal.append(events, after);
  return { after, unsealed };
}

/** A run that workers execute, from the first event that is news. */
function begun(
  around: Surroundings,
  { options }: Pick<IntendedRun, 'options'>,
  run: Run,
  from: number,
  unsealed: readonly string[] = [],
): BegunRun {
  const { store, clock } = around;
  return {
    ...{ run, clock, isLive: false, notices: warnings(unsealed) },
    async attend(attendant) {
      const processes = await around.processes(run.id);
      const side = notifiers(run, { around, executors: { processes }, options }, attendant);
      const observers = [...attendant.observers, ...side];
      const { found, isStopAwaited } = await attendRun(
        { store, clock, id: run.id, from, known: run.seq, userName: userName() },
        { ...attendant, observers },
      );
      return { run: found.run, isStopAwaited };
    },
  };
}

/**
 * Removes the snapshots of a run from the remote through which its files travel. Returns a message for
 * the user if git cannot do it here.
 */
async function forgetSnapshots(
  { database, parts }: DatabaseRuns,
  run: string,
): Promise<readonly string[]> {
  const row = await findRow(database, run);
  if (!row || row.remote === null) return [];
  const { remote } = row;
  const folder = await mkdtemp(join(tmpdir(), 'raymond-'));
  try {
    const { isOwn } = await ownRun(database, parts, run, row);
    if (!isOwn) throw new Error('you did not start the run');
    await forget({ url: remote, folder }, refsOf(run));
    return [];
  } catch (error) {
    const why = messageOf(error);
    if (!isUsable(remote)) return [`The snapshots of ${run} stay at its remote: ${why}.`];
    const address = shellWord(withoutSecrets(remote));
    return [
      `The snapshots of ${run} stay at its remote: ${why}`,
      `To remove them: git push ${address} --delete $(git ls-remote ${address} '${refsOf(run)}*' | cut -f 2)`,
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
