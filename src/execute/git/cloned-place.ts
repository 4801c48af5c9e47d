/**
 * A run whose files travel through a git remote. Each machine works in its own clone, below the folder
 * of the worker, and never in a directory of the user.
 */
import { join, relative, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../model/message-of.ts';
import { oneAtATime } from '../../model/one-at-a-time.ts';
import type { CarriedRoots, RunPlace, StepKey } from '../../ports.ts';
import { RemoteTrouble } from './remote.ts';
import { bringSnapshot, isClone, type SnapshotsOfRun, takeSnapshot } from './snapshots.ts';

interface ClonedRun extends SnapshotsOfRun {
  /** The root of the working tree in which the run began. */
  readonly root: string;
  /** The folder of its clone on this machine. */
  readonly clone: string;
  readonly roots: CarriedRoots;
  /** The pauses between attempts to reach the remote. */
  readonly pausesMs?: readonly number[];
}

export function clonedPlace(ofRun: ClonedRun): RunPlace {
  const { root, clone, roots, pausesMs = PAUSES_MS } = ofRun;
  /** The snapshot that the clone has, while it is known. */
  let current: string | undefined;
  /** The last snapshot that a step has left here. */
  let newest = '';
  /** The steps that have left. Other machines get their files only when their ends are stored. */
  let left: ReadonlySet<string> = new Set();
  /** The steps that this process knows to be in the clone. */
  let entered: ReadonlySet<string> = new Set();
  /** Steps of the same machine share the clone. */
  const inTurn = oneAtATime();
  let working = 0;
  /** Undefined while a step on another machine works on the files. */
  const tryEnter = async (step: StepKey, hasBegun: boolean, signal: AbortSignal) => {
    const held = await roots.hold(step, root);
    if (!held) return undefined;
    const { snapshot } = held;
    const holders = new Set(held.holders.map(keyOf));
    left = new Set([...left].filter((key) => holders.has(key)));
    entered = new Set([...entered].filter((key) => holders.has(key)));
    // A step that this process has still to adopt works in the clone already.
    const isAwaited = held.holders.some(
      (one) => one.hasBegunHere && keyOf(one) !== keyOf(step) && !entered.has(keyOf(one)),
    );
    // The clone is newer than any snapshot that is stored, if this machine has had it since.
    const isNewer = hasBegun || isAwaited || working > 0 || left.size > 0;
    if (!isNewer && current !== snapshot) {
      current = undefined;
      await patiently(() => bringSnapshot(ofRun, clone, snapshot), pausesMs, signal);
      current = snapshot;
    }
    working += 1;
    entered = new Set([...entered, keyOf(step)]);
    return snapshot;
  };
  return {
    toLocal: (path) => moved(path, root, clone),
    toRun: (path) => moved(path, clone, root),
    async enter(step, directory, { signal, hasBegun }) {
      if (moved(directory, root, clone) === directory) return outside(directory, root);
      try {
        for (let tries = 0; !(await inTurn(() => tryEnter(step, hasBegun, signal))); tries++)
          await pause(Math.min(50 * 2 ** tries, LONGEST_PAUSE_MS), undefined, { signal });
        return undefined;
      } catch (error) {
        return `The files of the run cannot be brought here: ${messageOf(error)}`;
      }
    },
    async leave(step, _, signal) {
      try {
        await inTurn(async () => {
          working -= 1;
          if (!(await isClone(clone))) throw new Error('its .git leads to another repository');
          const take = () => takeSnapshot(ofRun, clone, 'all', current);
          current = await patiently(take, pausesMs, signal);
          newest = current;
          left = new Set([...left, keyOf(step)]);
          // The end of a step that has left later may be stored earlier.
          roots.keep(step, root, () => newest);
        });
        return undefined;
      } catch (error) {
        current = undefined;
        return `The files of the step cannot be sent to the remote: ${messageOf(error)}`;
      }
    },
  };
}

const LONGEST_PAUSE_MS = 1_000;

const keyOf = ({ agent, step }: StepKey) => `${step} ${agent}`;

/** About five minutes: a remote may restart, or a network may be interrupted. */
const PAUSES_MS = [1, 2, 5, 10, 20, 30, 60, 60, 60, 60].map((seconds) => seconds * 1000);

function moved(path: string, from: string, to: string): string {
  const below = relative(from, path);
  if (below === '') return to;
  const isOutside = below === '..' || below.startsWith(`..${sep}`) || below.startsWith(sep);
  return isOutside ? path : join(to, below);
}

async function patiently<T>(
  act: () => Promise<T>,
  pausesMs: readonly number[],
  signal: AbortSignal,
): Promise<T> {
  for (const ms of pausesMs) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !(error instanceof RemoteTrouble)) throw error;
      await pause(ms, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
  return act();
}

const outside = (directory: string, root: string) =>
  `${directory} is outside of ${root}, and only the files in it are on every machine.`;
