/**
 * A program in sandbox-runtime, which lets it reach some hosts. Its proxies belong to a process of the step
 * (`confine-process.ts`), so they outlive Raymond together with the program.
 */
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
  const config = JSON.stringify(configOf(confinement));
  const filter = IS_LINUX ? callFilterFile(confinement.ownFolder, 'files') : '/dev/null';
  return {
    filter,
    command: process.execPath,
    args: [SANDBOX_PROCESS, config, refusals, confinement.temporary, filter, command, ...args],
  };
}

const IS_LINUX = process.platform === 'linux';

const SANDBOX_PROCESS = fileURLToPath(new URL('confine.js', import.meta.url));

export function configOf({ places, network }: Confinement): SandboxRuntimeConfig {
  const placesWith = (...kinds: readonly Placed['access'][]) =>
    places.filter(({ access }) => kinds.includes(access)).map(literal);
  return {
    network: { allowedDomains: network === 'all' ? ['*'] : [...network], deniedDomains: [] },
    filesystem: {
      denyRead: placesWith('hidden'),
      allowRead: placesWith('seen', 'write'),
      allowWrite: placesWith('write'),
      denyWrite: placesWith('read'),
    },
  };
}

/** The sandbox reads some characters as patterns, so such a path would not mean itself. */
function literal({ path }: Placed): string {
  if (!/[*?[\]{}]/.test(path)) return path;
  throw new Error(
    `The sandbox cannot be given the path ${path}, because it has one of * ? [ ] { }.`,
  );
}
