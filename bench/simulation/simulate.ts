import { parseArgs } from 'node:util';
import { startServer } from '../../test/postgres/server.ts';
import { simulatedFleet } from './fleet.ts';
import { growHistory, growIdleWorkers, growRuns, growStore, growWorkersOfRun } from './phases.ts';
import { machineLine } from './report.ts';

/**
 * Loads one PostgreSQL with the decisions of many workers, and says what it carries and what limits it
 * first. Steps take no time, so everything that is measured is Raymond and the database.
 */
export async function simulate(words: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      database: { type: 'string' },
      seconds: { type: 'string', default: '3' },
      workers: { type: 'string', default: '8' },
      runs: { type: 'string', default: '1,8,64,256,1024' },
      stored: { type: 'string', default: '20000' },
    },
  });
  const server = values.database === undefined ? await startServer({ isDurable: true }) : undefined;
  try {
    const url = values.database ?? server?.url() ?? '';
    const fleet = await simulatedFleet(url, server?.pid());
    const seconds = Number(values.seconds);
    const workers = Number(values.workers);
    print(machineLine());
    await growIdleWorkers(fleet, seconds, print);
    const best = await growRuns(fleet, { seconds, workers, runs: numbers(values.runs) }, print);
    await growWorkersOfRun(fleet, { seconds, workers, agents: 64 }, print);
    await growHistory(fleet, print);
    await growStore(fleet, Number(values.stored), print);
    print('', 'What breaks first', best);
    await fleet.close();
    return 0;
  } finally {
    await server?.dispose();
  }
}

const numbers = (text: string) => text.split(',').map(Number);

function print(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
