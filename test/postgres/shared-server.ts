/**
 * One PostgreSQL server for all tests of a run of the suite. It starts when the first test asks for it,
 * through a socket, because the files of the suite run in several processes.
 */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startServer } from './server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The socket that gives the URL of the server, or the reason why there is none. */
    readonly postgresSocket: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'raymond-suite-'));
  const socket = join(folder, 'postgres');
  let starting: Promise<PostgresServer> | undefined;
  const door = createServer(async (asker) => {
    asker.on('error', () => {});
    starting ??= startServer();
    const reply = await starting.then(
      (server) => ({ url: server.url() }),
      (error) => ({ problem: String(error) }),
    );
    asker.end(JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => door.listen(socket, resolve));
  door.unref();
  project.provide('postgresSocket', socket);
  return async () => {
    door.close();
    await (await starting?.catch(() => undefined))?.dispose();
    rmSync(folder, { recursive: true, force: true });
  };
}
