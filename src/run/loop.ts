import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { type AlonePorts, holdAlone } from './hold-alone.ts';
import type { Inbox } from './inbox.ts';
import { type TurnPorts, takeTurn } from './turn.ts';

export interface LoopPorts extends AlonePorts, Omit<TurnPorts, 'hold'> {}

/**
 * Works on a run until it ends: one turn after the other, and one wait. Inputs that are already in the inbox,
 * such as a resume, come first.
 */
export async function runLoop(initial: Run, inbox: Inbox<Input>, ports: LoopPorts): Promise<Run> {
  const alone = holdAlone(initial, inbox, ports);
  try {
    let run = await takeTurn({ ...ports, hold: alone.hold }, inbox.takeNow());
    while (run.status.kind !== 'ended')
      run = await takeTurn({ ...ports, hold: alone.hold }, await inbox.take());
    return run;
  } finally {
    alone.close();
    await ports.steps.close();
  }
}
