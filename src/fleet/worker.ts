/** A worker: takes steps of all runs in a database until it is stopped. */
import { setTimeout as delay } from 'node:timers/promises';
import type { StopSource } from '../ports.ts';
import { live, type StopHow } from './life.ts';
import type { FleetPorts } from './ports.ts';

/**
 * Resolves when the worker has stopped. If it loses its lease, it ends its steps and begins again as a new
 * worker. So trouble of the database or the network passes by itself.
 */
export async function runWorker(ports: FleetPorts, onStop: StopSource): Promise<void> {
  const stops: Parameters<typeof live>[1] = { current: undefined, onStop: undefined };
  const endStops = onStop((how: StopHow) => {
    stops.current = how;
    stops.onStop?.(how);
  });
  try {
    for (;;) {
      const end = await live(ports, stops);
      if (end === 'stopped' || stops.current) return;
      ports.report(`${ports.worker.name} begins again.`);
      await delay(PAUSE_MS);
    }
  } finally {
    endStops();
  }
}

const PAUSE_MS = 500;
