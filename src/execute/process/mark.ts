// Two marks identify the processes of a run. Every process of a step inherits them:
// - a token in the environment, which names the run and the step;
// - on Linux, a number in the resource limit for file locks. The kernel has not enforced this limit
//   since 2.4.25. Every descendant inherits it, even one that clears its environment, closes every
//   descriptor, starts a new session and outlives its parent.
import { createHash } from 'node:crypto';

export const TOKEN_VARIABLE = 'RAYMOND_STEP_TOKEN';

export interface StepMark {
  /** Names the run on this machine until the next boot. */
  readonly key: string;
  /** Distinguishes the steps of the run that are alive at the same time; below `MARKS`. */
  readonly number: number;
}

const KEY_DIGITS = 9;
const NUMBER_BITS = 26;
export const MARKS = 2 ** NUMBER_BITS;
/** The launcher has this number, and so have its witnesses until each has taken that of its step. */
export const LAUNCHER_NUMBER = 0;

export function runKey(folder: string, boot: string): string {
  return createHash('sha256').update(`${boot}\0${folder}`).digest('hex').slice(0, KEY_DIGITS);
}

/** The mark as text. The uuid makes the token unique. */
export function newToken({ key, number }: StepMark, uuid: string): string {
  return `${key}.${number}.${uuid}`;
}

/** Undefined for a token of an earlier version. */
export function markOf(token: string): StepMark | undefined {
  const [, key, digits] = TOKEN.exec(token) ?? [];
  return key === undefined ? undefined : { key, number: Number(digits) };
}

const TOKEN = new RegExp(`^([0-9a-f]{${KEY_DIGITS}})\\.(\\d{1,8})\\.`);

/**
 * The environment of the step that `token` identifies. When Raymond itself runs inside a step, the
 * outer token stays first, so that stopping the outer step also finds the inner step's processes.
 */
export function withToken(
  env: Readonly<Record<string, string>>,
  token: string,
): Record<string, string> {
  return { ...env, ...tokenIn(env, token) };
}

/** The variable that `withToken` changes. */
export function tokenIn(
  env: Readonly<Record<string, string>>,
  token: string,
): Readonly<Record<string, string>> {
  const outer = env[TOKEN_VARIABLE];
  return { [TOKEN_VARIABLE]: outer ? `${outer}:${token}` : token };
}

/** The tokens of the steps that a process with this environment runs in, the outermost first. */
export function tokensOf(environment: NodeJS.ProcessEnv): readonly string[] {
  return environment[TOKEN_VARIABLE]?.split(':') ?? [];
}

/** The tokens in an environment given as text, with variables separated by NUL or spaces. */
export function tokensIn(environment: string): string[] {
  return [...environment.matchAll(VARIABLE)].flatMap(([, value = '']) => value.split(':'));
}

const VARIABLE = new RegExp(`(?<=^|[\\0 ])${TOKEN_VARIABLE}=([^\\0 ]*)`, 'g');

/** The limit for file locks that encodes a mark: 62 bits. */
export function limitOf({ key, number }: StepMark): bigint {
  return (BigInt(`0x${key}`) << BigInt(NUMBER_BITS)) + BigInt(number);
}

/** Parses `/proc/<pid>/limits`. A limit that another program set gives a key that matches no run. */
export function limitMark(limits: string): StepMark | undefined {
  const [, digits] = /^Max file locks\s+(\d+)\s/m.exec(limits) ?? [];
  if (digits === undefined) return undefined;
  const value = BigInt(digits);
  const key = (value >> BigInt(NUMBER_BITS)).toString(16).padStart(KEY_DIGITS, '0');
  return { key, number: Number(value % BigInt(MARKS)) };
}
