/** Whether this machine can confine steps. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  SANDBOX_PACKAGE,
  sandboxFolder,
  sandboxProgram,
  systemProgram,
} from './sandbox-package.ts';
import { callFilter } from './system-calls.ts';

export interface SandboxProblem {
  readonly fact: string;
  readonly remedy: string;
}

/** `withHosts`: some steps may reach hosts, which needs more than bubblewrap. */
export async function sandboxProblem(
  withHosts: boolean,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<SandboxProblem | undefined> {
  if (process.platform === 'win32')
    return { fact: 'Windows has no sandbox that Raymond knows.', remedy: WITHOUT };
  const isLinux = process.platform === 'linux';
  const needed = [
    ...(isLinux ? ['bwrap'] : []),
    ...(withHosts && isLinux ? ['socat'] : []),
    // On macOS, sandbox-runtime confines all steps.
    ...(withHosts || !isLinux ? ['rg'] : []),
  ];
  const missing = needed.filter((name) => systemProgram(name, environment.PATH) === undefined);
  if (missing.length > 0) {
    const packages = missing.map((name) => PACKAGES[name] ?? name).join(' ');
    const install = isLinux ? `apt-get install ${packages}` : `brew install ${packages}`;
    return {
      fact: `The sandbox needs ${missing.join(' and ')}, which ${missing.length === 1 ? 'is' : 'are'} not in the folders of the system, such as /usr/bin.`,
      remedy: `Install it, for example with: ${install}. ${WITHOUT}`,
    };
  }
  if (isLinux && callFilter(process.arch, 'no files') === undefined)
    return {
      fact: `Raymond has no filter of system calls for the processor of this machine (${process.arch}).`,
      remedy: WITHOUT,
    };
  if ((withHosts || !isLinux) && sandboxFolder() === undefined)
    return {
      fact: `The package ${SANDBOX_PACKAGE} is not installed.`,
      remedy: `Install Raymond again without --omit=optional. ${WITHOUT}`,
    };
  return isLinux ? trial(environment) : undefined;
}

const WITHOUT = 'Or run without rights: --no-rights.';

const PACKAGES: Readonly<Record<string, string>> = { bwrap: 'bubblewrap', rg: 'ripgrep' };

/** Some systems have bubblewrap, and forbid the namespaces that it needs. */
async function trial(environment: NodeJS.ProcessEnv): Promise<SandboxProblem | undefined> {
  const args = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true'];
  try {
    await promisify(execFile)(sandboxProgram('bwrap', environment.PATH), args);
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: string };
    return {
      fact: `bubblewrap cannot make a sandbox here: ${(stderr?.trim() || message).split('\n')[0]}`,
      remedy: `Allow unprivileged user namespaces (kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu). In a container, also allow the system calls and /proc: --security-opt seccomp=unconfined --security-opt systempaths=unconfined. ${WITHOUT}`,
    };
  }
}
