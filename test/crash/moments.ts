/** Moments at which a run is disturbed. */
import { statSync } from 'node:fs';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { namesIn } from '../names-in.ts';
import type { Project, Started } from '../raymond.ts';
import { gitsOf } from './harm.ts';
import type { Random } from './random.ts';

/** The run that every game plays. */
export const RUN = 'torture-00000001';

export interface Moment {
  readonly name: string;
  /** Resolves with true at the event, with false if the process ended before. */
  come(project: Project, random: Random, life: Started): Promise<boolean>;
}

interface Pace {
  /** The most bytes of the journal between a start and a kill. */
  readonly journalBytes: number;
  /** The longest time between them. */
  readonly mostMs?: number;
  /** After this time, a moment that has not come is given up, and the kill comes anyway. */
  readonly patienceMs?: number;
}

export const momentsOf = ({
  journalBytes,
  mostMs = 600,
  patienceMs = Number.POSITIVE_INFINITY,
}: Pace): readonly Moment[] => [
  {
    name: 'at some time',
    async come(_, random, { child }) {
      await delay(random() * mostMs);
      return isRunning(child);
    },
  },
  {
    name: 'while the journal is written',
    come(project, random, { child }) {
      const journal = project.path('.raymond', 'state', `${RUN}.jsonl`);
      const size = () => statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
      const enough = size() + Math.floor(random() ** 2 * journalBytes);
      return until(child, () => size() > enough, turn, patienceMs);
    },
  },
  {
    name: 'while the state file is written',
    come(project, random, { child }) {
      const folder = project.path('.raymond', 'state');
      const names = new Set<string>();
      const wanted = 1 + Math.floor(random() * 2);
      const isWritten = () => {
        for (const name of namesIn(folder)) if (name.endsWith('.tmp')) names.add(name);
        return names.size >= wanted;
      };
      return until(child, isWritten, soon, patienceMs);
    },
  },
  {
    name: 'while steps are launched',
    come(project, random, { child }) {
      const folder = project.path('.raymond', 'runs', RUN, 'steps');
      const count = () =>
        namesIn(folder).reduce((sum, agent) => sum + namesIn(`${folder}/${agent}`).length, 0);
      const enough = count() + 1 + Math.floor(random() * 8);
      return until(child, () => count() >= enough, soon, patienceMs);
    },
  },
  {
    name: 'while an agent waits',
    come(project, _random, { child }) {
      const isWaiting = () => {
        const types = project.journal(RUN).map(({ type }) => type);
        const of = (wanted: string) => types.filter((type) => type === wanted).length;
        const joins = of('join-started') > of('join-reported');
        return joins || of('agent-asked') > of('question-timed-out');
      };
      return until(child, isWaiting, () => delay(20), patienceMs);
    },
  },
];

/** For a run that asks for permissions. */
export const PERSON_MOMENTS: readonly Moment[] = [
  {
    name: 'while a permission request waits',
    come(project, _random, { child }) {
      const isOpen = () => {
        const types = project.journal(RUN).map(({ type }) => type);
        const of = (wanted: string) => types.filter((type) => type === wanted).length;
        return of('permission-asked') > of('permission-answered') + of('permission-withdrawn');
      };
      return until(child, isOpen, () => delay(5));
    },
  },
];

/** For a run with worktrees. */
export const TREE_MOMENTS: readonly Moment[] = [
  {
    name: 'while a worktree is made',
    async come(project, random, { child }) {
      const records = project.path('.raymond', 'runs', RUN, 'worktrees');
      const seen = new Set<string>();
      const wanted = 1 + Math.floor(random() * 4);
      const isMaking = () => {
        const making = namesIn(records).filter((agent) => !seen.has(agent));
        for (const agent of making) seen.add(agent);
        return making.length > 0 && seen.size >= wanted;
      };
      if (!(await until(child, isMaking))) return false;
      await delay(random() * 40);
      return isRunning(child);
    },
  },
  {
    name: 'while a worktree is removed',
    come(project, _random, { child }) {
      const folder = project.path('.raymond', 'worktrees', RUN);
      const isRemoving = () => namesIn(folder).some((name) => name.startsWith('.removing'));
      return until(child, isRemoving, turn);
    },
  },
];

export const GIT_MOMENTS: readonly Moment[] = [
  {
    name: 'while git works',
    come(_, random, { child, pid }) {
      const seen = new Set<number>();
      const wanted = 1 + Math.floor(random() * 12);
      return until(child, () => {
        const now = gitsOf(pid);
        for (const git of now) seen.add(git);
        return now.length > 0 && seen.size >= wanted;
      });
    },
  },
];

const soon = () => delay(1);

/** Without a pause, a kill can hit a write, but the watcher uses a whole processor. */
async function until(
  child: Started['child'],
  condition: () => boolean,
  pause: () => Promise<unknown> = soon,
  patienceMs = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const end = performance.now() + patienceMs;
  while (isRunning(child)) {
    if (condition() || performance.now() > end) return true;
    await pause();
  }
  return false;
}

const isRunning = (child: Started['child']) => child.exitCode === null && child.signalCode === null;
