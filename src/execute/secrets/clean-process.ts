/**
 * Runs a command, and removes secrets from everything that it writes:
 * node clean.js <names of variables> <command> [arguments]
 *
 * It belongs to the step, so it outlives Raymond together with the command. A Raymond process that adopts the
 * step needs no values.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants as system, tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt } from '../../model/attempt.ts';
import { FILTER_DESCRIPTOR } from '../rights/call-filter-file.ts';
import { secretsIn } from './clean-command.ts';
import { cleaner } from './cleaner.ts';

const LEFT_MS = 2_000;
const CANNOT_START = 125;

const [names = '', command = '', ...args] = process.argv.slice(2);
const secrets = secretsIn(names, process.env);
try {
  begin();
} catch (error) {
  fail(error);
}

function begin(): void {
  const filter = attempt(() => fstatSync(FILTER_DESCRIPTOR)) ? [FILTER_DESCRIPTOR] : [];
  const [stdout, stderr] = [pipe(), pipe()];
  const stdio = ['inherit', stdout.input, stderr.input, ...filter] as const;
  const child = spawn(command, args, { stdio: [...stdio] });
  for (const { input } of [stdout, stderr]) closeSync(input);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal));
  const outputs = [passOn(stdout.output, 1), passOn(stderr.output, 2)];
  child.once('error', fail);
  child.once('exit', async (code, signal) => {
    // What the command left running may hold its output open. A sandbox on Linux leaves nothing.
    const late = new Promise((resolve) => setTimeout(resolve, LEFT_MS));
    await Promise.race([Promise.all(outputs.map(({ ended }) => ended)), late]);
    for (const { finish } of outputs) finish();
    process.exit(code ?? 128 + (signal ? system.signals[signal] : 0));
  });
}

/** Pipes of Node are sockets, and a command cannot open a socket by the name /dev/stderr. */
function pipe(): { readonly input: number; readonly output: Socket } {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-clean-'));
  try {
    const path = join(folder, 'fifo');
    const env = { PATH: '/usr/bin:/bin' };
    const { error, status } = spawnSync('mkfifo', ['-m', '600', path], { env });
    if (error || status !== 0) throw error ?? new Error(`mkfifo exited with ${status}`);
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const input = openSync(path, constants.O_WRONLY);
    return { input, output: new Socket({ fd, readable: true, writable: false }) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `finish` writes the rest. */
function passOn(output: Socket, descriptor: number) {
  const { push, end } = cleaner(secrets);
  output.on('data', (chunk: Buffer) => writeAll(descriptor, push(chunk)));
  const ended = new Promise((resolve) => output.once('close', resolve));
  return { ended, finish: () => writeAll(descriptor, end()) };
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

function fail(error: unknown): never {
  writeSync(2, `The output cannot be cleaned: ${error instanceof Error ? error.message : error}\n`);
  process.exit(CANNOT_START);
}
