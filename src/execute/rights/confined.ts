/** Gives the rights of a step to a sandbox. */
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hasStandIns } from '../../model/rights-text.ts';
import type { ConfinedTo, Place } from '../../ports.ts';
import type { Protected } from '../agents/protected-files.ts';
import type { Environment } from '../process/shell-environment.ts';
import { cleaned } from '../secrets/clean-command.ts';
import { inBubblewrap } from './bubblewrap.ts';
import { type AgentNeeds, type Confinement, confinementOf, type Guarded } from './confinement.ts';
import { refusalsFile } from './refusals.ts';
import { inSandboxRuntime } from './sandbox-runtime.ts';

/** Undefined if the step has no rights, and so may do everything that the user may. */
export function confinementFor(
  { cwd, rights }: { readonly cwd: string; readonly rights?: ConfinedTo | undefined },
  protects: Protected | undefined,
  needs?: AgentNeeds,
): Confinement | undefined {
  if (!rights) return undefined;
  const { places, taskFolder } = rights;
  const guarded = protects ? guardedBy(protects, places) : UNGUARDED;
  const confinement = confinementOf(rights, { cwd, taskFolder }, guarded, needs);
  const { secrets: names, network } = rights;
  if (!names) return confinement;
  const standInsFor = hasStandIns(rights) && network !== 'all' ? network : undefined;
  const of = protects?.secretOf ?? madeUp;
  return { ...confinement, secrets: { names, valueOf: of, ...(standInsFor && { standInsFor }) } };
}

/** In tests and rehearsals, which must not use what is precious. */
const madeUp = (name: string) => `made-up-value-of-${name}`;

/** What the steps of a run must not touch, whatever their rights say. */
function guardedBy(
  { projectFolder, userFolder, configFolder, reached, files = [] }: Protected,
  places: readonly Place[],
): Guarded {
  return {
    protects: [projectFolder, ...files, ...reached(places).files],
    hides: [userFolder, ...(configFolder === undefined ? [] : [configFolder])],
    shows: [dirname(projectFolder)],
    ownFolder: join(userFolder, 'sandbox'),
  };
}

const UNGUARDED: Guarded = { protects: [], hides: [], shows: [], ownFolder: tmpdir() };

interface Wanted {
  readonly folder: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly confine?: Confinement | undefined;
  readonly filter?: string | undefined;
  readonly variables?: Environment;
  readonly isPrivate?: boolean;
}

/** The command in its sandbox. Without proxies, bubblewrap alone starts much sooner. */
export function confined<W extends Wanted>(wanted: W): W {
  const { confine, folder } = wanted;
  if (!confine) return wanted;
  const hasNoProxy = confine.network === 'all' || confine.network.length === 0;
  const isSimple = hasNoProxy && !confine.learns;
  const program =
    isSimple && process.platform === 'linux'
      ? inBubblewrap(wanted, confine)
      : inSandboxRuntime(wanted, confine, refusalsFile(folder));
  const inSandbox = { ...wanted, ...program, confine: undefined };
  const { secrets } = confine;
  if (!secrets) return inSandbox;
  const values = secrets.names.map((name) => [name, secrets.valueOf(name)] as const);
  return {
    ...inSandbox,
    ...cleaned(secrets.names, program),
    // After those of the workflow, which must not replace them.
    variables: { ...wanted.variables, ...Object.fromEntries(values) },
    isPrivate: true,
    // The process that removes the secrets is outside of the sandbox.
    endsWhole: false,
  };
}
