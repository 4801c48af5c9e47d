/**
 * A program in sandbox-runtime, which lets it reach some hosts. Its proxies belong to a process of the step
 * (`confine-process.ts`), so they outlive Raymond together with the program.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime';
import type { Program } from '../agents/out-of-sight.ts';
import type { SandboxedProgram } from './bubblewrap.ts';
import { callFilterFile } from './call-filter-file.ts';
import type { Confinement, Placed } from './confinement.ts';

/** `refusals` is the file to which the process of the step adds what was refused. */
export function inSandboxRuntime(
  { command, args }: Program,
  confinement: Confinement,
  refusals: string,
): SandboxedProgram {
  const { network, learns } = confinement;
  const settings: ConfineSettings = {
    config: configOf(confinement),
    ...(learns && { learns: network }),
    ...(confinement.secrets && { secrets: confinement.secrets.names.join(',') }),
  };
  const config = JSON.stringify(settings);
  const filter = IS_LINUX ? callFilterFile(confinement.ownFolder, 'files') : '/dev/null';
  return {
    filter,
    command: process.execPath,
    args: [SANDBOX_PROCESS, config, refusals, confinement.temporary, filter, command, ...args],
  };
}

const IS_LINUX = process.platform === 'linux';

/** Beside the bundle that contains this file. Sources have none, and use that of the last build. */
const SANDBOX_PROCESS =
  ['confine.js', '../../../dist/confine.js']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path)) ?? 'confine.js';

/** What the process of the step gets. */
export interface ConfineSettings {
  readonly config: SandboxRuntimeConfig;
  /** The hosts that may be reached, if it records what the step changes and reaches. */
  readonly learns?: Confinement['network'];
  /** The names of variables whose values must not be in the records. */
  readonly secrets?: string;
}

function configOf({ places, network, learns, secrets }: Confinement): SandboxRuntimeConfig {
  const placesWith = (...kinds: readonly Placed['access'][]) =>
    places.filter(({ access }) => kinds.includes(access)).map(literal);
  // Others are asked about, and so become known.
  const allowed = learns ? [...learns.ownHosts] : network === 'all' ? ['*'] : [...network];
  const { standInsFor } = secrets ?? {};
  const own = allowed.filter((host) => !standInsFor?.includes(host));
  return {
    ...(secrets && standInsFor && { credentials: standIns(secrets.names, standInsFor) }),
    network: {
      ...{ allowedDomains: allowed, deniedDomains: [] },
      // It has to read requests to replace stand-ins in them. Those of the agent itself stay private.
      ...(standInsFor && { tlsTerminate: { excludeDomains: own.map(withoutPort) } }),
    },
    filesystem: {
      denyRead: placesWith('hidden'),
      allowRead: placesWith('seen', 'write'),
      allowWrite: placesWith('write'),
      denyWrite: placesWith('read'),
    },
  };
}

/** The step sees a stand-in in each variable, and the proxy replaces it on the way to these hosts. */
function standIns(names: readonly string[], hosts: readonly string[]) {
  const injectHosts = [...new Set(hosts.map(withoutPort))];
  return {
    envVars: names.map((name) => ({ name, mode: 'mask' as const, injectHosts })),
    // Without TLS, everybody on the way could read the secret. On this machine, nobody is on the way.
    allowPlaintextInject: hosts.every((host) => THIS_MACHINE.test(host)),
  };
}

const withoutPort = (host: string) => host.replace(/:\d+$/, '');

export const THIS_MACHINE = /^(?:127\.|localhost\b|\[::1\])/;

/** The sandbox reads some characters as patterns, so such a path would not mean itself. */
function literal({ path }: Placed): string {
  if (!/[*?[\]{}]/.test(path)) return path;
  throw new Error(
    `The sandbox cannot be given the path ${path}, because it has one of * ? [ ] { }.`,
  );
}
