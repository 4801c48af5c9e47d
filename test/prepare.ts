/**
 * Prepares what tests share, once for a run of the suite and only when a test asks for it: the build, and
 * a PostgreSQL server. The files of the suite run in several processes, so they ask through a socket.
 */
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from './postgres/server.ts';
import { DOOR, type Prepared } from './prepared.ts';

const root = join(import.meta.dirname, '..');

export async function setup(): Promise<() => Promise<void>> {
  // Node 20 reads these certificates at each start, which takes longer than the rest of its start. Tests
  // start thousands of processes, and none of them leaves the machine.
  delete process.env.NODE_EXTRA_CA_CERTS;
  const folder = mkdtempSync(join(tmpdir(), 'r-'));
  const isInMemory = isMemoryMounted(folder);
  if (isInMemory) process.env.TMPDIR = folder;
  const ends: (() => Promise<void>)[] = [];
  const makers: Readonly<Record<Prepared, () => Promise<string>>> = {
    build: buildProgram,
    async postgres() {
      const server = await startServer();
      ends.push(() => server.dispose());
      return server.url();
    },
  };
  const made = new Map<Prepared, Promise<object>>();
  const make = (name: Prepared) =>
    makers[name]().then(
      (value) => ({ value }),
      (error) => ({ problem: String(error) }),
    );
  const door = createServer({ allowHalfOpen: true }, async (asker) => {
    asker.on('error', () => {});
    const [word] = await once(asker, 'data');
    const name = String(word) as Prepared;
    const reply = made.get(name) ?? make(name);
    made.set(name, reply);
    asker.end(JSON.stringify(await reply));
  });
  const socket = join(folder, 'door');
  await once(door.listen(socket), 'listening');
  door.unref();
  process.env[DOOR] = socket;
  return async () => {
    door.close();
    await Promise.all(made.values());
    for (const end of ends) await end();
    // Lazily, because a process that ends may still have a file open.
    if (isInMemory) spawnSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true, force: true });
  };
}

/**
 * Puts the files of the suite into memory, if there is room and this user may. Tests make and remove a hundred
 * thousand files. A disk looks for a place for each, which took a tenth of the suite's processor time.
 */
function isMemoryMounted(folder: string): boolean {
  const mount = ['-t', 'tmpfs', '-o', 'mode=1777', 'raymond-tests', folder];
  const mayMount = process.platform === 'linux' && process.getuid?.() === 0;
  return mayMount && freemem() > ROOM_BYTES && spawnSync('mount', mount).status === 0;
}

const ROOM_BYTES = 6 * 1024 ** 3;

/** Some tests run the same bin/raymond.js as users. It is built if a source file is newer. */
async function buildProgram(): Promise<string> {
  await runNode([join(root, 'scripts', 'build.js'), '--if-changed'], { stdio: 'inherit' });
  await compileProgram();
  return join(root, 'bin', 'raymond.js');
}

/** Some commands are carried out once, so that `quick-raymond.cjs` has the code that most commands need. */
async function compileProgram(): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-compile-'));
  mkdirSync(join(cwd, 'flow'));
  writeFileSync(join(cwd, 'flow', 'START.sh'), `echo '<result>compiled</result>'\n`);
  const env = { ...process.env, HOME: cwd, XDG_STATE_HOME: cwd };
  const start = join(import.meta.dirname, 'quick-raymond.cjs');
  rmSync(join(import.meta.dirname, 'artefacts', 'compiled'), { recursive: true, force: true });
  for (const args of [['flow', '--workflow-id', 'r'], ['list'], ['show', 'r']])
    await runNode([start, ...args], { cwd, env, stdio: 'ignore' });
  rmSync(cwd, { recursive: true });
}

async function runNode(args: readonly string[], options: SpawnOptions): Promise<void> {
  const child = spawn(process.execPath, args, options);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with code ${code}.`);
}
