import { RunLost } from '../model/run-lost.ts';
import type { Clock } from '../ports.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * Finds out that a run was lost also while nothing is appended, as during a long step. Other trouble
 * with the disk shows at the next append. Gives the way to end the looking.
 */
export function watchOwnership(
  clock: Clock,
  confirm: () => Promise<void>,
  onLost: (loss: RunLost) => void,
): () => void {
  let isOver = false;
  let cancel = () => {};
  const lookLater = () => {
    cancel = clock.at(clock.now() + LOOK_EVERY_MS, look);
  };
  const look = async () => {
    try {
      await confirm();
    } catch (error) {
      if (error instanceof RunLost && !isOver) return onLost(error);
    }
    if (!isOver) lookLater();
  };
  lookLater();
  return () => {
    isOver = true;
    cancel();
  };
}
