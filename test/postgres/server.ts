/**
 * A private PostgreSQL server in a temporary folder, on a free port of the loopback. It ends with the
 * process that started it, even if that process is killed.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

export interface PostgresServer {
  readonly port: number;
  /** Undefined while it is stopped. */
  pid(): number | undefined;
  /** With the password of the superuser. */
  url(database?: string): string;
  /** `fast` ends every connection first. `immediate` is a crash, after which the server recovers. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** After a stop, with the same port and the same data. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  dispose(): Promise<void>;
}

export interface ServerSettings {
  readonly maxConnections?: number;
  /** As in production: a commit waits for the disk. */
  readonly isDurable?: boolean;
}

export async function startServer(settings: ServerSettings = {}): Promise<PostgresServer> {
  const bin = programs();
  const folder = mkdtempSync(join(tmpdir(), 'raymond-postgres-'));
  const user = unprivileged();
  if (user) chownSync(folder, user.uid, user.gid);
  const as = runAs(user);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, PASSWORD);
  if (user) chownSync(passwordFile, user.uid, user.gid);
  runProgram(as, join(bin, 'initdb'), [
    ...['--pgdata', data, '--username', USER, '--pwfile', passwordFile, '--no-sync'],
    ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
  ]);
  const port = await freePort();
  const url = (database = 'postgres') =>
    `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  let server: ChildProcess | undefined;
  let stopped: Promise<unknown> = Promise.resolve();
  const start = async () => {
    // Two servers cannot have the same data.
    await stopped;
    const options = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      // The data needs to outlive only crashes of the server, not of the machine.
      fsync: settings.isDurable ? 'on' : 'off',
      full_page_writes: settings.isDurable ? 'on' : 'off',
      // All files of the suite share a server, and a worker has up to 8.
      max_connections: settings.maxConnections ?? 500,
      shared_buffers: '32MB',
    };
    const args = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const [program = '', ...rest] = [...as, join(bin, 'postgres'), '-D', data, ...args];
    let output = '';
    const child = spawn(program, rest, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        output = `${output}${text}`.slice(-MOST_OUTPUT);
      });
    server = child;
    while (!(await answers(url()))) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`PostgreSQL did not start:\n${output}`);
      await delay(20);
    }
  };
  const stop: PostgresServer['stop'] = async (how = 'fast') => {
    const child = server;
    server = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const over = new Promise((resolve) => child.once('exit', resolve));
    stopped = over;
    // `setpriv` becomes the server, so this is its pid.
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await over;
  };
  await start();
  return {
    port,
    pid: () => server?.pid,
    url,
    stop,
    start,
    async dispose() {
      await stop('immediate');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const USER = 'postgres';
/** It must appear in no output of Raymond. */
export const PASSWORD = 'secret-password';
const MOST_OUTPUT = 20_000;

/** The folder with the programs of the newest version. */
function programs(): string {
  const debian = '/usr/lib/postgresql';
  const versions = entriesOf(debian).sort((a, b) => Number(b) - Number(a));
  const places = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const found = places.find((place) => isProgram(join(place, 'initdb')));
  if (found) return found;
  throw new Error(
    'This test needs PostgreSQL, but there is no initdb in /usr/lib/postgresql or in PATH. Install it: apt-get install postgresql',
  );
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('This test runs as root and needs the user postgres or nobody for PostgreSQL.');
}

function runAs(user: SystemUser | undefined): readonly string[] {
  const as = user && [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  return ['setpriv', '--pdeathsig', 'QUIT', ...(as ?? [])];
}

function runProgram(as: readonly string[], program: string, args: readonly string[]): void {
  const [first = '', ...rest] = [...as, program, ...args];
  execFileSync(first, rest, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
