/** A worker: takes steps of all runs in a database until it is stopped. */
import { setTimeout as delay } from 'node:timers/promises';
import type { StopSource } from '../ports.ts';
import { live } from './life.ts';
import type { FleetPorts } from './ports.ts';
import { StopRequests } from './stop-requests.ts';

/**
 * Resolves when the worker has stopped. If it loses its lease, it ends its steps and begins again as a new
 * worker. So trouble of the database or the network passes by itself.
 *
 * `cut off` if it has stopped without its database: then connections and queues may still wait for it.
 */
export async function runWorker(
  ports: FleetPorts,
  onStop: StopSource,
): Promise<'stopped' | 'cut off'> {
  const stops = new StopRequests();
  const endStops = onStop((how) => stops.ask(how));
  try {
    for (;;) {
      if ((await live(ports, stops)) === 'stopped') return 'stopped';
      if (stops.isStopped) return 'cut off';
      ports.report(`${ports.worker.name} begins again.`);
      await stops.before(delay(PAUSE_MS));
    }
  } finally {
    endStops();
  }
}

const PAUSE_MS = 500;
