/** Where the value of a secret comes from, and what a value must be like. */
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { readRegularFile } from '../../files/regular-file.ts';
import { messageOf } from '../../model/message-of.ts';
import { unreachable } from '../../model/unreachable.ts';

export type SecretSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'command'; readonly words: readonly string[] };

/** The value, or why there is none. A problem never contains a part of a value. */
export type SecretValue = { readonly value: string } | { readonly problem: string };

export async function readSecret(
  source: SecretSource,
  environment: NodeJS.ProcessEnv,
): Promise<SecretValue> {
  try {
    const text = await textOf(source, environment);
    // Editors and commands end a file with a line break.
    const value = text.replace(/\r?\n$/, '');
    const problem = secretProblem(value);
    return problem === undefined ? { value } : { problem: `its value ${problem}` };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** What is wrong with a value; undefined if nothing is. */
export function secretProblem(value: string): string | undefined {
  if (value.length < LEAST_CHARACTERS)
    return `has fewer than ${LEAST_CHARACTERS} characters, so other text would be taken for it and removed`;
  if (value.includes('\0')) return 'has a null character, which no variable can have';
  if (Buffer.byteLength(value) > MOST_BYTES) return `is longer than ${MOST_BYTES / 1024} KiB`;
  return undefined;
}

const LEAST_CHARACTERS = 8;
const MOST_BYTES = 32 * 1024;

export function sourceText(source: SecretSource): string {
  switch (source.kind) {
    case 'file':
      return `file ${source.path}`;
    case 'variable':
      return `variable ${source.name}`;
    case 'command':
      return `command ${source.words.join(' ')}`;
    default:
      return unreachable(source);
  }
}

async function textOf(source: SecretSource, environment: NodeJS.ProcessEnv): Promise<string> {
  switch (source.kind) {
    case 'file': {
      const path = resolve(source.path.replace(/^~(?=\/|$)/, homedir()));
      return (await readRegularFile(path, MOST_BYTES * 2)).toString('utf8');
    }
    case 'variable': {
      const value = environment[source.name];
      if (value === undefined) throw new Error(`the variable ${source.name} is not set`);
      return value;
    }
    case 'command':
      return outputOf(source.words, environment);
    default:
      return unreachable(source);
  }
}

function outputOf(words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const [program = '', ...args] = words;
  const limits = { timeout: COMMAND_MS, maxBuffer: MOST_BYTES * 2 };
  return new Promise((found, failed) => {
    const child = execFile(program, args, { env, ...limits }, (error, stdout, stderr) => {
      if (!error) return found(stdout);
      const { code, killed } = error;
      const how = killed
        ? `did not end within ${COMMAND_MS / 1000} s`
        : typeof code === 'number'
          ? `exited with ${code}`
          : `could not be started (${code ?? 'unknown error'})`;
      // What it printed may be a part of the value. What it complained about helps.
      const complaint = stderr.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
      failed(new Error(`${program} ${how}${complaint === '' ? '' : `: ${complaint}`}`));
    });
    child.stdin?.end();
  });
}

/** A password manager may ask the person first. */
const COMMAND_MS = 60_000;
