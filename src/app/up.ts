/**
 * Keeps the triggers of projects: sleeps until one is due, starts runs in processes of their own, and owns none. It
 * remembers nothing that is not in the ledger, so it can be killed at any moment, and several may run at once.
 */
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSystemError, reasonOf } from '../journal/disk-errors.ts';
import { messageOf } from '../model/message-of.ts';
import type { Door } from '../model/notice.ts';
import type { Occasion, OccasionCause, OccasionOutcome } from '../model/trigger.ts';
import { inbox } from '../triggers/inbox.ts';
import { occasionOf } from '../triggers/occasion.ts';
import { watchedApprovals } from '../world/config/trust.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { type TurnParts, triggerTurn } from './trigger-turn.ts';
import { triggeredRuns } from './triggered-runs.ts';
import { type FoundTrigger, findTriggers, inProjectRoot, triggersAt } from './triggers.ts';

export interface UpParts {
  readonly door: Door;
  /** One line about something that happened. */
  readonly log: (text: string) => void;
  /** Resume what a crash has left (default), or leave that to others. */
  readonly resumes?: boolean;
}

export interface Up {
  /** The approved triggers of all projects. */
  triggers(): readonly FoundTrigger[];
  /**
   * Records an occasion from outside, such as a delivery, and starts its run if it may start. Resolves when the
   * record is durable. Without an outcome, the occasion is due.
   */
  occur(
    found: FoundTrigger,
    cause: OccasionCause,
    payload?: string,
    outcome?: OccasionOutcome,
  ): Promise<{ readonly kind: 'recorded' | 'known'; readonly occasion: Occasion }>;
  /** Lets turns that have begun finish, and ends. Runs continue. */
  close(): Promise<void>;
}

export async function up(directories: readonly Surroundings[], parts: UpParts): Promise<Up> {
  const projects = new Map<string, KeptProject>();
  for (const one of directories) {
    const around = await inProjectRoot(one);
    if (projects.has(around.cwd)) {
      parts.log(`${one.cwd} is in the project ${around.cwd}, which is kept already`);
      continue;
    }
    const log = directories.length > 1 ? inProject(around.cwd, parts.log) : parts.log;
    const project = await keepProject(around, { ...parts, log });
    projects.set(around.cwd, project);
    if (project.triggers().length === 0) parts.log(`${around.cwd} has no approved triggers yet`);
  }
  const all = () => [...projects.values()];
  return {
    triggers: () => all().flatMap((project) => project.triggers()),
    async occur(found, cause, payload, outcome) {
      const project = projects.get(found.key.project);
      if (!project) throw new Error(`${found.key.project} is not kept`);
      return project.occur(found, cause, payload, outcome);
    },
    async close() {
      for (const project of all()) await project.close();
    },
  };
}

/** Projects may have workflows of the same name. */
const inProject = (project: string, log: UpParts['log']) => (text: string) =>
  log(`${project}: ${text}`);

type KeptProject = Up;

interface KeptTrigger {
  readonly found: FoundTrigger;
  /** Asks for a turn, now or after the one that has begun. */
  look(): void;
  close(): Promise<void>;
}

async function keepProject(around: Surroundings, parts: UpParts): Promise<KeptProject> {
  const { log, resumes = true } = parts;
  const ledger = await around.world.occasions();
  await around.world.shareTriggers(around.cwd);
  const approvals = await watchedApprovals();
  const runs = triggeredRuns(around, parts.door, log);
  const died = new Map<string, number>();
  const kept = new Map<string, KeptTrigger>();
  const watchers = new Map<string, FSWatcher>();
  const said = new Set<string>();
  let isClosed = false;
  let wasThere = true;
  const once = (text: string) => {
    if (!said.has(text)) log(text);
    said.add(text);
  };

  const reload = coalesced(async () => {
    const { triggers, problems } = await findTriggers(around);
    if (isClosed) return;
    const isThere = existsSync(around.cwd);
    if (wasThere !== isThere)
      log(
        isThere
          ? 'The folder of the project is back.'
          : `There is no folder ${around.cwd} any more.`,
      );
    wasThere = isThere;
    for (const problem of problems) once(problem);
    for (const { path, isApproved } of triggers)
      if (!isApproved)
        once(
          `The triggers of ${path} are ignored, because you have not approved them: raymond trust ${path}`,
        );
    const approved = new Map(
      triggers.filter(({ isApproved }) => isApproved).map((found) => [idOf(found), found]),
    );
    for (const [id, trigger] of kept) {
      if (approved.has(id)) continue;
      kept.delete(id);
      log(`${trigger.found.path} (${trigger.found.key.name}): no longer kept`);
      await trigger.close();
    }
    for (const [id, found] of approved) {
      if (kept.has(id)) continue;
      await ledger.keptSince(found.key, around.clock.now());
      const trigger = keepTrigger({ around, ledger, runs, log, died }, found, () => reload());
      kept.set(id, trigger);
      log(`${found.path} (${found.key.name}): kept`);
      trigger.look();
    }
    watchFolders([
      ...[around.cwd, approvals],
      ...triggers.flatMap(({ key }) => [key.workflow, dirname(key.workflow)]),
    ]);
  });

  /** Changes of workflows and approvals are noticed soon here, and elsewhere with the next slow look. */
  const watchFolders = (folders: readonly string[]) => {
    for (const folder of new Set(folders)) {
      if (watchers.has(folder)) continue;
      const watcher = watched(folder, () => void reloadSoon());
      if (watcher) watchers.set(folder, watcher);
    }
  };
  let soon: (() => void) | undefined;
  const reloadSoon = () => {
    soon?.();
    soon = around.clock.at(around.clock.now() + SOON_MS, () => void reload().catch(failed));
  };
  const failed = (error: unknown) => log(`Cannot read the workflows: ${messageOf(error)}`);
  const reloadLater = (): (() => void) =>
    around.clock.at(around.clock.now() + LOOK_AT_WORKFLOWS_MS, () => {
      later = reloadLater();
      reload().catch(failed);
    });
  let later = () => {};

  if (resumes) await runs.resumeAll();
  await reload();
  later = reloadLater();
  const endWatch = ledger.watch(around.cwd, () => {
    for (const trigger of kept.values()) trigger.look();
  });

  return {
    triggers: () => [...kept.values()].map(({ found }) => found),
    async occur(found, cause, payload, outcome) {
      const occasion = occasionOf(found.key, found.workflowName, cause, around.clock.now());
      const kind = await ledger.record(occasion, payload, outcome);
      kept.get(idOf(found))?.look();
      return { kind, occasion };
    },
    async close() {
      isClosed = true;
      soon?.();
      later();
      endWatch();
      for (const watcher of watchers.values()) watcher.close();
      await Promise.all([...kept.values()].map((trigger) => trigger.close()));
      await around.world.close();
    },
  };
}

const SOON_MS = 200;
/** Not every file system reports changes, and new workflows may be in folders that nobody watches. */
const LOOK_AT_WORKFLOWS_MS = 5 * 60_000;

/** A changed trigger with the same name is another one. */
const idOf = ({ key, trigger }: FoundTrigger) => JSON.stringify([key, trigger]);

function keepTrigger(
  parts: Pick<TurnParts, 'ledger' | 'runs' | 'log' | 'died'> & { readonly around: Surroundings },
  found: FoundTrigger,
  onChange: () => Promise<void>,
): KeptTrigger {
  const { around, log } = parts;
  const { clock, store, cwd } = around;
  const { trigger } = found;
  const box = trigger.kind === 'files' ? inbox(cwd, trigger) : undefined;
  const watches = new Map<string, AbortController>();
  let cancel = () => {};
  let isClosed = false;
  /** The last one, while it lasts. */
  let trouble = '';

  const isCurrent = async () => {
    const isSame = (await triggersAt(around, found.path)).some(
      (one) => one.isApproved && idOf(one) === idOf(found),
    );
    if (!isSame) void onChange().catch(() => {});
    return isSame;
  };
  const wakeAt = (time: number) => {
    cancel();
    if (!isClosed) cancel = clock.at(time, look);
  };
  const turn = coalesced(async () => {
    if (isClosed) return;
    try {
      const { next, running } = await triggerTurn(
        { ...parts, project: cwd, clock, inbox: box, isCurrent },
        found,
      );
      // A watch that begins now would keep the process.
      if (isClosed) return;
      followRuns(running);
      const look = box
        ? nextMultiple(clock.now(), watcher ? LOOK_AT_FILES_MS : LOOK_FOR_FOLDER_MS)
        : undefined;
      trouble = '';
      const times = [next, look].filter((time) => time !== undefined);
      if (times.length > 0) wakeAt(Math.min(...times));
    } catch (error) {
      // An absent database is absent for a while, and so is space on a disk.
      const why = isSystemError(error)
        ? `${reasonOf(error)}. It is tried again.`
        : messageOf(error);
      if (trouble !== why) log(`${found.path} (${found.key.name}): ${why}`);
      trouble = why;
      wakeAt(clock.now() + AFTER_TROUBLE_MS);
    }
  });
  const look = () => void turn();
  const folder = trigger.kind === 'files' ? dirname(join(cwd, trigger.pattern)) : undefined;
  const watcher = folder === undefined ? undefined : watched(folder, look);

  /** The end of a run may let the next one start. */
  const followRuns = (running: readonly string[]) => {
    for (const [id, controller] of watches)
      if (!running.includes(id)) {
        controller.abort();
        watches.delete(id);
      }
    for (const id of running) {
      if (watches.has(id)) continue;
      const controller = new AbortController();
      watches.set(id, controller);
      void followed(id, controller.signal).catch(() => {});
    }
  };
  const followed = async (id: string, signal: AbortSignal) => {
    for await (const { type } of store.watch(id, 0, signal)) if (type === 'run-ended') look();
  };
  return {
    found,
    look,
    async close() {
      isClosed = true;
      cancel();
      watcher?.close();
      for (const controller of watches.values()) controller.abort();
      await turn.rest();
    },
  };
}

/** All triggers look at the same time, so that an idle machine is woken once. */
const nextMultiple = (now: number, ms: number) => (Math.floor(now / ms) + 1) * ms;

/** Not every file system reports changes. */
const LOOK_AT_FILES_MS = 30_000;
/** The folder does not exist yet. */
const LOOK_FOR_FOLDER_MS = 10_000;
const AFTER_TROUBLE_MS = 10_000;

function watched(folder: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, changed);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/** Calls that come while it works become one call afterwards. `rest` resolves when it does not work. */
function coalesced(act: () => Promise<void>): (() => Promise<void>) & { rest(): Promise<void> } {
  let working: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = (): Promise<void> => {
    if (!working) {
      working = act().finally(() => {
        working = undefined;
      });
      return working;
    }
    next ??= working
      .catch(() => {})
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  };
  return Object.assign(run, {
    rest: async () => {
      await next?.catch(() => {});
      await working?.catch(() => {});
    },
  });
}
