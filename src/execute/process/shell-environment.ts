// A running shell gives each command exactly the wanted environment. The shell already has one, so only
// the differences are written, as assignments before `exec`. Bash passes them on without acting on them.

import { TOKEN_VARIABLE } from './mark.ts';

export type Environment = Readonly<Record<string, string>>;

/**
 * The part of a step's environment that a shell can have while it serves all steps. It keeps the token
 * of a step that Raymond itself runs in.
 */
export function shellEnvironment(env: Environment): Environment {
  const isOfStep = (name: string) => name.startsWith('RAYMOND_') && name !== TOKEN_VARIABLE;
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !isOfStep(name) && !ACTED_ON.has(name)),
  );
}

/** Bash acts on these, or replaces them, when it finds them in its environment. */
const ACTED_ON = new Set([
  'BASHOPTS',
  'BASH_COMPAT',
  'BASH_XTRACEFD',
  'CHILD_MAX',
  'FUNCNEST',
  'IFS',
  'IGNOREEOF',
  'OLDPWD',
  'OPTERR',
  'OPTIND',
  'POSIXLY_CORRECT',
  'PS4',
  'PWD',
  'SHELLOPTS',
  'TMOUT',
]);

export interface EnvironmentChange {
  /** Names, separated by spaces. */
  readonly unset: string;
  /** Assignments, quoted for the shell and separated by spaces. */
  readonly set: string;
}

/** From the environment of the shell to the wanted one; undefined if bash cannot express it. */
export function environmentChange(
  shell: Environment,
  wanted: Environment,
): EnvironmentChange | undefined {
  const set: string[] = [];
  // `cd` sets them in the shell.
  const unset = SET_BY_CD.filter((name) => wanted[name] === undefined);
  for (const name in shell) if (wanted[name] === undefined && !OWN.has(name)) unset.push(name);
  for (const name in wanted) {
    const value = wanted[name];
    if (value === undefined || shell[name] === value || OWN.has(name)) continue;
    const word = assignment(name, value);
    if (word === undefined) return undefined;
    set.push(word);
  }
  return unset.every(isAssignable) ? { unset: unset.join(' '), set: set.join(' ') } : undefined;
}

/** The same change, and these variables; undefined if bash cannot express it. */
export function withVariables(
  { unset, set }: EnvironmentChange,
  variables: Environment,
): EnvironmentChange | undefined {
  const words = [set];
  for (const name in variables) {
    const word = assignment(name, variables[name] ?? '');
    if (word === undefined) return undefined;
    words.push(word);
  }
  return { unset, set: words.join(' ') };
}

function assignment(name: string, value: string): string | undefined {
  if (OWN.has(name)) return '';
  return isAssignable(name) && !value.includes('\0') ? `${name}=${quoted(value)}` : undefined;
}

const SET_BY_CD = ['OLDPWD', 'PWD'];

/** Every bash sets these itself. */
const OWN = new Set(['SHLVL', '_']);

const isAssignable = (name: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !READONLY.has(name);

const READONLY = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID']);

/** One word for the shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
