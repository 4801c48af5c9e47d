import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { Way } from '../../fleet/ports.ts';
import { runWorker } from '../../fleet/worker.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { StopSource } from '../../ports.ts';
import { nameOf } from '../../postgres/address.ts';
import { openDatabase } from '../../postgres/database.ts';
import { migrate } from '../../postgres/migrations.ts';
import { makeOwnFolder, userStateFolder } from '../../world/config/user-folders.ts';
import { forgetRemovedRuns } from '../../world/fleet/runs-of-worker.ts';
import { keepSharedTriggers } from '../../world/fleet/shared-triggers.ts';
import {
  CONNECTIONS_OF_WORKER,
  openRecovery,
  SPARED_CONNECTIONS,
  workerPorts,
} from '../../world/fleet/worker-ports.ts';
import { type Here, surroundings } from '../../world/surroundings.ts';
import { wallClock } from '../../world/wall-clock.ts';
import { latency, leaseWarning, tripsPerStep, wayForm } from '../look/workers.ts';
import { stopOnSignals } from '../terminal/signals.ts';
import { endNow, stderr, stdout } from '../terminal/terminal.ts';
import { showNotice } from '../terminal/terminal-door.ts';

export interface WorkerOptions {
  readonly name?: string;
  readonly state?: string;
  readonly prompts?: string;
  readonly scripts?: string;
  readonly promptsForAll?: string;
  readonly scriptsForAll?: string;
  readonly lease?: string;
  readonly trustRuns?: boolean;
  readonly json?: boolean;
}

/** Takes steps of the runs in a database until it is stopped. */
export async function worker(here: Here, options: WorkerOptions): Promise<number> {
  const { databaseUrl: url } = await here();
  if (url === undefined)
    throw wrongUsage('No database is named.', 'Name one with --database, or set RAYMOND_DATABASE.');
  const name = workerName(options.name);
  const limits = {
    prompts: numberIn('--prompts', options.prompts, 8),
    scripts: numberIn('--scripts', options.scripts, 8),
  };
  const prompts = optionalNumberIn('--prompts-for-all', options.promptsForAll);
  const scripts = optionalNumberIn('--scripts-for-all', options.scriptsForAll);
  const limitsForAll = { ...(prompts && { prompts }), ...(scripts && { scripts }) };
  const leaseMs = 1000 * numberIn('--lease', options.lease, 60, 2, 'number of seconds');
  const stateFolder = resolve(options.state ?? join(userStateFolder(), 'workers', name));
  await makeOwnFolder(stateFolder);
  const report = stderr.say;
  const around = await surroundings({ stateFolder, database: 'none', report });
  await around.makeProject();
  const spared = SPARED_CONNECTIONS;
  const database = openDatabase({
    url,
    report,
    connections: CONNECTIONS_OF_WORKER.most - 1,
    spared,
    isPatient: true,
  });
  await migrate(database);
  const lock = await around.lockFolder(stateFolder);
  const recovery = await openRecovery(database, url, report);
  let endForgetting = () => {};
  let endTriggers = async () => {};
  let way: Way | undefined;
  try {
    const ports = await workerPorts({
      ...{ around, database, recovery, name, limits, limitsForAll, leaseMs },
      trustRuns: options.trustRuns === true,
      onRenewed: (now) => {
        if (options.json) stdout.json({ name, ...wayForm(now, leaseMs) });
        else reportWay(way, now, leaseMs);
        way = now;
      },
    });
    endTriggers = keepSharedTriggers({
      ...{ database, report, clock: around.clock },
      async keep(directory) {
        const { up } = await import('../../app/up.ts');
        const place = await surroundings({
          ...{ cwd: directory, database: url, report, clock: wallClock() },
        });
        // The workers take over the runs of a worker that is gone.
        const parts = { door: { notice: showNotice, agree: async () => undefined }, log: report };
        return up([place], { ...parts, resumes: false });
      },
    });
    endForgetting = forgetRemovedRuns(around, database, ports.notices);
    stderr.say(`The worker ${name} takes steps from ${nameOf(database.address)}.`);
    if ((await runWorker(ports, reportedStop)) === 'stopped') {
      const trips = way && tripsPerStep(way);
      if (way && trips !== undefined && !options.json)
        stderr.say(
          `The worker ${name} executed ${way.steps} ${way.steps === 1 ? 'step' : 'steps'}, with ${trips} round trips to the database per step.`,
        );
      return 0;
    }
    stderr.say(`The worker ${name} has stopped without an answer from its database.`);
    await lock.release();
    // The connections would wait for an answer.
    endNow(0);
  } finally {
    endForgetting();
    await endTriggers();
    await recovery.close();
    await database.close();
    await lock.release();
  }
}

/** Says how far away the database is, and when that becomes too far for the lease. */
function reportWay(before: Way | undefined, { latencyMs }: Way, leaseMs: number): void {
  if (!before) stderr.say(`A round trip to the database takes ${latency(latencyMs)}.`);
  const warning = leaseWarning(leaseMs, latencyMs);
  if (warning && !(before && leaseWarning(leaseMs, before.latencyMs))) stderr.say(warning);
}

/** A step can take a long time to finish, so the user must learn that the signal has arrived. */
const reportedStop: StopSource = (stop) =>
  stopOnSignals((how) => {
    if (how === 'drain')
      stderr.say(
        'The worker takes no more steps, and ends when its own have finished. Ctrl-C again stops them.',
      );
    stop(how);
  });

/** It also names a folder. */
function workerName(given: string | undefined): string {
  const name = given ?? hostname();
  if (/^(?!\.)[\w.-]{1,100}$/.test(name)) return name;
  throw wrongUsage(
    `--name is "${name}".`,
    'Write up to 100 letters, digits, dots, hyphens and underscores. The first one is not a dot.',
  );
}

function numberIn(
  option: string,
  text: string | undefined,
  usual: number,
  least = 1,
  what = 'number',
): number {
  return optionalNumberIn(option, text, least, what) ?? usual;
}

function optionalNumberIn(
  option: string,
  text: string | undefined,
  least = 1,
  what = 'number',
): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= MOST) return number;
  throw wrongUsage(`${option} is "${text}".`, `Write a whole ${what} from ${least} to ${MOST}.`);
}

const MOST = 999_999;
