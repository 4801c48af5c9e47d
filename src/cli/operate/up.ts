/** Keeps the triggers of projects until a signal ends it. */
import { resolve } from 'node:path';
import { checkFolder } from '../../app/triggers.ts';
import { up as keepTriggers, type Up } from '../../app/up.ts';
import { addressText, isLocal, listenForWebhooks, readListenAddress } from '../../app/webhooks.ts';
import type { ListenAddress } from '../../hooks/listener.ts';
import type { Door } from '../../model/notice.ts';
import { openLog } from '../../world/log-file.ts';
import { type Here, type Surroundings, surroundings } from '../../world/surroundings.ts';
import { wallClock } from '../../world/wall-clock.ts';
import { onSignals } from '../terminal/signals.ts';
import { stderr } from '../terminal/terminal.ts';
import { showNotice } from '../terminal/terminal-door.ts';
import { installService } from './install-service.ts';
import { openPage } from './serve.ts';

export interface UpOptions {
  readonly serve?: boolean;
  readonly port?: string;
  readonly listen?: string;
  readonly install?: boolean;
  readonly database?: string;
}

/** A part of the process that runs beside the triggers, such as the page. Returns a function that ends it. */
export type UpPart = (up: Up) => Promise<() => Promise<void>>;

export async function up(
  here: Here,
  directories: readonly string[],
  options: UpOptions,
): Promise<number> {
  for (const directory of directories) await checkFolder(resolve(directory));
  if (options.install) return install(await here(), directories, options);
  const listenAt = options.listen === undefined ? undefined : readListenAddress(options.listen);
  const ended = new Promise<void>((end) => {
    const off = onSignals(() => {
      off();
      end();
    });
  });
  const { cwd, disk, databaseUrl } = await here();
  const around = await placeAt(cwd, disk, databaseUrl ?? 'none');
  const places: Surroundings[] = [];
  for (const directory of directories)
    places.push(await placeAt(resolve(directory), disk, databaseUrl));
  if (places.length === 0) places.push(around);
  for (const place of places) await place.world.connect();
  const kept = await keepTriggers(places, { door, log });
  const ends: (() => Promise<void>)[] = [];
  try {
    for (const part of partsOf(around, options, listenAt)) ends.push(await part(kept));
    const count = kept.triggers().length;
    log(
      `Keeps ${count === 1 ? '1 trigger' : `${count} triggers`}. Ctrl-C ends this process, but no run.`,
    );
    await ended;
    log('Ends.');
  } finally {
    for (const end of ends) await end();
    await kept.close();
  }
  return 0;
}

function partsOf(
  around: Surroundings,
  { serve, port }: UpOptions,
  listenAt: ListenAddress | undefined,
): readonly UpPart[] {
  const page: UpPart = async () => {
    const { address, close } = await openPage(around, port);
    log(`The page is at ${address}`);
    return close;
  };
  return [...(listenAt ? [webhooks(around, listenAt)] : []), ...(serve ? [page] : [])];
}

function webhooks(around: Surroundings, wanted: ListenAddress): UpPart {
  return async (kept) => {
    const listener = await listenForWebhooks({ around, up: kept, door, log }, wanted);
    log(`Listens at http://${addressText(listener.address)}/hooks/`);
    if (!isLocal(wanted))
      log('Others can reach this address, and nothing on it is encrypted. Put a proxy in front.');
    return listener.close;
  };
}

/** The same command line, with absolute paths. */
function install(
  { cwd }: Surroundings,
  directories: readonly string[],
  { serve, port, listen, database }: UpOptions,
): Promise<number> {
  if (listen !== undefined) readListenAddress(listen);
  return installService(
    [
      ...directories.map((directory) => resolve(directory)),
      ...(listen === undefined ? [] : ['--listen', listen]),
      ...(serve ? ['--serve'] : []),
      ...(port === undefined ? [] : ['--port', port]),
      ...(database === undefined ? [] : ['--database', database]),
    ],
    cwd,
  );
}

/** This process lives long, so it follows the clock of the machine, also back. */
function placeAt(
  cwd: string,
  disk: Surroundings['disk'],
  database: string | undefined,
): Promise<Surroundings> {
  return surroundings({ cwd, disk, database, clock: wallClock(), report: stderr.say });
}

const door: Door = { notice: showNotice, openLog, agree: async () => undefined };

/** With the local time, because a log is read long after. */
function log(text: string): void {
  const now = new Date();
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
  stderr.say(`${local.toISOString().slice(0, 19).replace('T', ' ')}  ${text}`);
}
