/** Runs a command in sandbox-runtime: node confine.js <config> <file for refusals> <temporary folder> <filter> <command> [arguments] */
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { SandboxManager, type SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime';
import { shellWord } from '../../model/shell-word.ts';
import { kernelSettings } from './bubblewrap.ts';
import { FILTER_DESCRIPTOR } from './call-filter-file.ts';
import { sandboxProgram, systemPath, systemProgram } from './sandbox-package.ts';

const THIS_MACHINE = /^(?:127\.|localhost\b|\[::1\])/;

const [config = '', refusals = '', temporary = '', filter = '', ...words] = process.argv.slice(2);
const settings = JSON.parse(config) as SandboxRuntimeConfig;

try {
  // The sandbox also finds programs on the PATH, where steps could have put their own.
  const { PATH } = process.env;
  process.env.PATH = systemPath(PATH);
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  const bwrapPath = `${refusals}-bwrap`;
  writeFileSync(bwrapPath, withOwnArguments(), { mode: 0o700 });
  const socatPath = systemProgram('socat');
  const ripgrep = { command: sandboxProgram('rg') };
  const programs = { bwrapPath, ripgrep, ...(socatPath !== undefined && { socatPath }) };
  await SandboxManager.initialize({ ...settings, ...programs }, undefined, true);
  recordRefusals();
  const { argv, env } = await SandboxManager.wrapWithSandboxArgv(commandText(), '/bin/bash');
  const [program = '', ...args] = argv;
  const child = spawn(program, args, { stdio: 'inherit', env: { ...env, PATH } });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal));
  child.once('error', fail);
  child.once('exit', async (code, signal) => {
    SandboxManager.cleanupAfterCommand();
    await SandboxManager.reset();
    process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0));
  });
} catch (error) {
  fail(error);
}

/** Adds to the arguments of bubblewrap what sandbox-runtime leaves out. */
function withOwnArguments(): string {
  const namespaces = ['--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  const own = [...namespaces, ...kernelSettings(), '--seccomp', `${FILTER_DESCRIPTOR}`];
  return `#!/bin/bash -p
own=()
while [ "$1" != -- ]; do own+=("$1"); shift; done
exec ${shellWord(sandboxProgram('bwrap'))} "\${own[@]}" ${own.join(' ')} "$@" ${FILTER_DESCRIPTOR}<${shellWord(filter)}
`;
}

/**
 * Programs use no proxy for this machine, because its addresses mean the sandbox itself. If the step may
 * reach a service of this machine, they have to.
 */
function commandText(): string {
  const isHere = settings.network.allowedDomains.some((host) => THIS_MACHINE.test(host));
  const own = `export TMPDIR=${shellWord(temporary)} CLAUDE_CODE_TMPDIR=${shellWord(temporary)}`;
  const command = `${own}; exec ${words.map(shellWord).join(' ')}`;
  return isHere ? `unset NO_PROXY no_proxy; ${command}` : command;
}

function recordRefusals(): void {
  const store = SandboxManager.getSandboxViolationStore();
  let known = 0;
  store.subscribe((all) => {
    const news = all.slice(known);
    known = all.length;
    const at = Date.now();
    const lines = news.map(({ line }) => `${JSON.stringify({ at, line })}\n`);
    if (lines.length > 0) appendFileSync(refusals, lines.join(''), { mode: 0o600 });
  });
}

function fail(error: unknown): never {
  console.error(`The sandbox cannot start: ${error instanceof Error ? error.message : error}`);
  process.exit(125);
}
