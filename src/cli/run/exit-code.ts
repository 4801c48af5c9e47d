import type { Run } from '../../model/run.ts';
import { unreachable } from '../../model/unreachable.ts';

export function exitCode({ status }: Run): number {
  if (status.kind !== 'ended') return 1;
  switch (status.outcome) {
    case 'completed':
      return 0;
    case 'failed':
      return 1;
    case 'waiting':
    case 'paused':
      return 2;
    case 'stopped: budget':
    case 'stopped: iterations':
      return 3;
    case 'interrupted':
    case 'stopped: shutdown':
      return 130;
    default:
      return unreachable(status.outcome);
  }
}
