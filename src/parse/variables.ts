import { clip } from './clip.ts';
import { isGivenName } from './placeholders.ts';
import { REFUSED_NAMES, type RefusedNames } from './refused-names.ts';

/**
 * Checks the names of variables. A fork attribute, `--set` and the environment of a workflow become
 * environment variables of scripts. So a name that would change how programs run is refused.
 */

/** Why an author or a user cannot use a name; undefined when they can. */
export function variableProblem(name: string): string | undefined {
  const isRefused = REFUSED.test(name) || REFUSED_IN_ANY_CASE.test(name);
  return variableNameProblem(name) ?? (isRefused ? steers(name) : undefined);
}

/** Why a name cannot name a value; undefined when it can. */
export function variableNameProblem(name: string): string | undefined {
  if (name.length > LONGEST || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name === '__proto__') {
    return `"${clip(name)}" cannot be a variable: use letters, digits and underscores, and do not start with a digit`;
  }
  if (isGivenName(name)) return `"${name}" is a name that Raymond fills in: choose another name`;
  return undefined;
}

/** Why an agent cannot give a value this name; undefined when it can. */
export function agentNameProblem(name: string): string | undefined {
  const problem = variableNameProblem(name);
  if (problem || /^[a-z]/.test(name)) return problem;
  return `"${name}" cannot be chosen by an agent: begin with a lower-case letter`;
}

/**
 * Why a name that an agent chose must not become an environment variable; undefined when it may.
 * Programs read variables in capitals, those in the table of refused names, and those that are
 * already set. `environment` has the names of the last kind, in lower case.
 */
export function agentVariableProblem(
  name: string,
  environment: ReadonlySet<string>,
): string | undefined {
  const problem = agentNameProblem(name);
  if (problem) return problem;
  if (REFUSED_TO_AGENTS.test(name)) return steers(name);
  if (environment.has(name.toLowerCase())) {
    return `"${name}" is a variable of the environment in which Raymond runs: choose another name`;
  }
  return undefined;
}

const LONGEST = 200;

const steers = (name: string) => `"${name}" would change how programs run: choose another name`;

const REFUSED = matcher(
  REFUSED_NAMES.filter(({ to, inAnyCase }) => to === 'everybody' && !inAnyCase),
  '',
);
const REFUSED_IN_ANY_CASE = matcher(
  REFUSED_NAMES.filter(({ to, inAnyCase }) => to === 'everybody' && inAnyCase),
  'i',
);
const REFUSED_TO_AGENTS = matcher(REFUSED_NAMES, 'i');

function matcher(rows: readonly RefusedNames[], flags: string): RegExp {
  const names = rows.flatMap((row) => row.names.trim().split(/\s+/));
  return new RegExp(`^(?:${names.join('|').replaceAll('*', '.*')})$`, flags);
}
