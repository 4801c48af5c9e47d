/**
 * Runs a command in sandbox-runtime:
 * node confine.js <settings> <file for records> <folder for temporary files> <filter> <command> [arguments]
 */
import { spawn } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { createInterface } from 'node:readline';
import { SandboxManager } from '@anthropic-ai/sandbox-runtime';
import { attempt } from '../../model/attempt.ts';
import { shellWord } from '../../model/shell-word.ts';
import { isHostIn } from '../../parse/rights.ts';
import { secretsIn } from '../secrets/clean-command.ts';
import { cleanText } from '../secrets/cleaner.ts';
import { kernelSettings } from './bubblewrap.ts';
import { FILTER_DESCRIPTOR } from './call-filter-file.ts';
import { sandboxProgram, systemPath } from './sandbox-package.ts';
import { type ConfineSettings, THIS_MACHINE } from './sandbox-runtime.ts';

const [given = '', records = '', temporary = '', filter = '', ...words] = process.argv.slice(2);
const { config: settings, learns, secrets: names } = JSON.parse(given) as ConfineSettings;
const secrets = secretsIn(names ?? '', process.env);

try {
  // The sandbox also finds programs on the PATH, where steps could have put their own.
  const { PATH } = process.env;
  process.env.PATH = systemPath(PATH);
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  const watched = learns && process.platform === 'linux' ? await watchWrites() : undefined;
  const own = process.platform === 'linux' ? programsOfLinux(watched?.socket) : {};
  const programs = { ...own, ripgrep: { command: sandboxProgram('rg') } };
  subscribe('net.client.socket', (made) =>
    (made as { readonly socket: Socket }).socket.setNoDelay(),
  );
  await SandboxManager.initialize({ ...settings, ...programs }, learns && askedFor(learns), true);
  recordRefusals();
  const { argv, env } = await SandboxManager.wrapWithSandboxArgv(commandText(), '/bin/bash');
  const [program = '', ...args] = argv;
  // Otherwise the first process in the sandbox would have the value, and show it to the others.
  for (const { name } of settings.credentials?.envVars ?? []) delete env[name];
  const child = spawn(program, args, { stdio: 'inherit', env: { ...env, PATH } });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal));
  child.once('error', fail);
  child.once('exit', async (code, signal) => {
    SandboxManager.cleanupAfterCommand();
    await SandboxManager.reset();
    watched?.end();
    process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0));
  });
} catch (error) {
  fail(error);
}

/** The programs of sandbox-runtime, each behind a script that adds to its arguments. */
function programsOfLinux(socket: string | undefined) {
  const socatPath = socatWithoutDelay();
  return { socatPath, bwrapPath: bubblewrapWith(socket, socatPath) };
}

/**
 * A request goes through several connections. Each of them would hold back its last part for 40 ms, until the
 * other side has confirmed the parts before it.
 */
function socatWithoutDelay(): string {
  return scriptFor(
    'socat',
    `words=()
for word; do
  case $word in TCP* | PROXY*) word+=,nodelay ;; esac
  words+=("$word")
done
exec ${shellWord(sandboxProgram('socat'))} "\${words[@]}"`,
  );
}

function scriptFor(name: string, code: string): string {
  const path = `${records}-${name}`;
  writeFileSync(path, `#!/bin/bash -p\n${code}\n`, { mode: 0o700 });
  return path;
}

/** Adds what sandbox-runtime leaves out. Of two arguments, the later one counts. */
function bubblewrapWith(socket: string | undefined, socat: string): string {
  const namespaces = ['--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  const watch = socket ? ['--bind', socket, socket, '--setenv', 'SRT_OBSERVE_SOCK', socket] : [];
  const added = [
    ...[...namespaces, ...kernelSettings(), ...watch],
    ...['--ro-bind', socat, socat, '--seccomp', `${FILTER_DESCRIPTOR}`],
  ];
  return scriptFor(
    'bwrap',
    `own=()
while [ "$1" != -- ]; do own+=("$1"); shift; done
exec ${shellWord(sandboxProgram('bwrap'))} "\${own[@]}" ${added.map(shellWord).join(' ')} "$@" ${FILTER_DESCRIPTOR}<${shellWord(filter)}`,
  );
}

/**
 * Programs use no proxy for this machine, because its addresses mean the sandbox itself, in which an agent may
 * have servers of its own. So a service of this machine that the step may reach gets a door at its own port.
 * Without a port, programs have to use the proxy for all of them.
 */
function commandText(): string {
  const hosts = [...settings.network.allowedDomains, ...(Array.isArray(learns) ? learns : [])];
  const here = hosts.filter((host) => THIS_MACHINE.test(host));
  const ports = here.flatMap((host) => /:(\d+)$/.exec(host)?.[1] ?? []);
  // Only in a request that the proxy reads can it replace a stand-in.
  const isRead = settings.credentials?.envVars?.some((one) =>
    one.injectHosts?.some((host) => THIS_MACHINE.test(host)),
  );
  const isWhole = process.platform !== 'linux' || ports.length < here.length || isRead === true;
  return [
    `export TMPDIR=${shellWord(temporary)} CLAUDE_CODE_TMPDIR=${shellWord(temporary)}`,
    here.length > 0 && isWhole
      ? 'unset NO_PROXY no_proxy'
      : 'export NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1',
    ...(isWhole ? [] : [...new Set(ports)].map(doorTo)),
    `exec ${words.map(shellWord).join(' ')}`,
  ].join('; ');
}

/** Forwards a port through the proxy, which decides. Waits until it listens. */
function doorTo(port: string): string {
  const login = `$(a="\${HTTP_PROXY#http://}"; echo "\${a%@*}")`;
  const out = `PROXY:localhost:127.0.0.1:${port},proxyport=3128,proxyauth="${login}",nodelay`;
  const listens = `grep -q ":${Number(port).toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A" /proc/net/tcp`;
  return [
    `socat TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr,nodelay ${out} </dev/null >/dev/null 2>&1 & door=$!`,
    `until ${listens} || ! kill -0 $door 2>/dev/null; do sleep 0.02; done`,
  ].join('; ');
}

function recordRefusals(): void {
  const store = SandboxManager.getSandboxViolationStore();
  let known = 0;
  store.subscribe((all) => {
    // It keeps only the newest ones.
    const count = store.getTotalCount();
    const news = all.slice(-(count - known));
    known = count;
    for (const { line } of news) record(line);
  });
}

/** The step may reach every host that the user allows. */
function askedFor(hosts: NonNullable<ConfineSettings['learns']>) {
  return async ({ host, port }: { readonly host: string; readonly port: number | undefined }) => {
    const whole = port === undefined ? host : `${host}:${port}`;
    const isAllowed = hosts === 'all' || isHostIn(hosts, whole);
    if (isAllowed) record(`used network-outbound ${whole}`);
    return isAllowed;
  };
}

/**
 * Records each path that a process of the step opens for writing, creates, renames or removes: the filter of
 * sandbox-runtime reports these calls to a socket. Processes can forge such reports, so they only inform.
 */
async function watchWrites() {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-watch-'));
  const socket = join(folder, 's');
  const { allowWrite, denyWrite } = settings.filesystem;
  const isIn = (path: string, places: readonly string[]) =>
    places.some((place) => path === place || path.startsWith(`${place}/`));
  const known = new Set<string>();
  const server = createServer((connection) => {
    connection.on('error', () => {});
    createInterface({ input: connection }).on('line', (line) => {
      const { path, syscall } = attempt(() => JSON.parse(line) as Report) ?? {};
      if (typeof path !== 'string' || !path.startsWith('/') || known.size >= MOST_PATHS) return;
      const whole = posix.normalize(path);
      if (known.has(whole)) return;
      known.add(whole);
      const isRefused = isIn(whole, denyWrite) || !isIn(whole, allowWrite);
      record(
        `${isRefused ? 'deny' : 'used'} ${typeof syscall === 'string' ? syscall : 'write'} ${whole}`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const end = () => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { socket, end };
}

interface Report {
  readonly path?: unknown;
  readonly syscall?: unknown;
}

const MOST_PATHS = 5_000;

function record(line: string): void {
  const clean = secrets.size === 0 ? line : cleanText(secrets, line);
  appendFileSync(records, `${JSON.stringify({ at: Date.now(), line: clean })}\n`, { mode: 0o600 });
}

function fail(error: unknown): never {
  console.error(`The sandbox cannot start: ${error instanceof Error ? error.message : error}`);
  process.exit(125);
}
