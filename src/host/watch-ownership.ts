import { RunLost } from '../model/run-lost.ts';
import type { Clock } from '../ports.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * Detects the loss of a run even while nothing is appended, for example during a long step. Other
 * disk errors appear at the next append. Returns a function that stops the watch.
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
