/**
 * Sends and fetches commits. An agent may have changed the configuration of its repository, and git
 * runs programs that a configuration names. So the configuration of an empty repository is used, together
 * with the objects of the other one. The address may contain a password. It is passed in a variable,
 * because other users can see arguments, and no message contains it.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { attempt } from '../../model/attempt.ts';
import { messageOf } from '../../model/message-of.ts';
import { withSettings } from './inert-config.ts';
import { runGit } from './run-git.ts';

export interface Remote {
  readonly url: string;
  /** For the empty repository. */
  readonly folder: string;
}

/** `repository` is the folder of git that has the objects. */
export async function push(remote: Remote, repository: string, commit: string, ref: string) {
  // The next fetch says that this commit is here.
  await transfer(remote, repository, ['update-ref', ref, commit]);
  await transfer(remote, repository, ['push', '--quiet', '--no-verify', NAME, `${ref}:${ref}`]);
}

export async function fetch(remote: Remote, repository: string, ref: string): Promise<void> {
  const how = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'];
  await transfer(remote, repository, ['fetch', ...how, NAME, `+${ref}:${ref}`]);
}

/** Removes all refs that begin with `prefix` from the remote. */
export async function forget(remote: Remote, prefix: string): Promise<void> {
  const listed = await transfer(remote, undefined, ['ls-remote', '--quiet', NAME, `${prefix}*`]);
  // The pattern also fits the end of longer names.
  const refs = listed
    .split('\n')
    .flatMap((line) => line.split('\t')[1] ?? [])
    .filter((ref) => ref.startsWith(prefix));
  for (let first = 0; first < refs.length; first += REFS_AT_ONCE) {
    const gone = refs.slice(first, first + REFS_AT_ONCE).map((ref) => `:${ref}`);
    await transfer(remote, undefined, ['push', '--quiet', '--no-verify', NAME, ...gone]);
  }
}

/** The length of a command line is limited. */
const REFS_AT_ONCE = 1_000;

/**
 * The address of a remote that a user names: the name of a remote of a repository, an address, or a
 * path. Undefined if it is none of them.
 */
export async function addressOf(
  named: string,
  root: string,
  cwd: string,
): Promise<string | undefined> {
  const args = ['-C', root, 'config', '--get', `remote.${named}.url`];
  const known = /^[\w.-]+$/.test(named) ? await runGit({ args }).catch(() => '') : '';
  const url = known.trim() || named;
  if (isUsable(url) && !isAbsolute(url)) return url;
  const path = isAbsolute(url) ? url : resolve(known === '' ? cwd : root, url);
  return existsSync(path) ? path : undefined;
}

/**
 * Whether git only connects to this address. Other schemes, such as `ext::`, run a program. A part that
 * begins with a hyphen can be taken for an option.
 */
export function isUsable(url: string): boolean {
  if (/^(?:https?|ssh|git|file):\/\//i.test(url)) return !/^\w+:\/\/(?:[^/@]*@)?-/.test(url);
  return isAbsolute(url) || /^\w[\w.-]*@\w[\w.-]*:/.test(url);
}

/** Without the name and the password of a user. */
export function withoutSecrets(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1');
}

const NAME = 'raymond';

/** It refers to objects of another repository, so it must not outlive that one. */
export const transferFolder = (folder: string) => join(folder, 'transfer.git');

async function transfer(
  { url, folder }: Remote,
  repository: string | undefined,
  args: readonly string[],
): Promise<string> {
  if (!isUsable(url))
    throw new Error('its address is neither a path nor an https, ssh, git or file address');
  const own = transferFolder(folder);
  if (!existsSync(join(own, 'HEAD'))) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await runGit({ args: ['init', '--quiet', '--bare', '--template=', own] });
  }
  const shared = repository ?? own;
  const shallow = join(shared, 'shallow');
  try {
    return await runGit({
      args: ['--git-dir', own, ...args],
      timeoutMs: TRANSFER_MS,
      env: {
        ...withSettings([[`remote.${NAME}.url`, url]]),
        GIT_OBJECT_DIRECTORY: join(shared, 'objects'),
        GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
        ...(existsSync(shallow) && { GIT_SHALLOW_FILE: shallow }),
      },
    });
  } catch (error) {
    throw new RemoteTrouble(hidden(messageOf(error), url));
  }
}

/** The remote may answer later. */
export class RemoteTrouble extends Error {}

const TRANSFER_MS = 10 * 60_000;

function hidden(message: string, url: string): string {
  const [, user = '', password = ''] = /^[a-z]+:\/\/([^/@:]*)(?::([^/@]*))?@/i.exec(url) ?? [];
  const secrets = [url, password, decoded(password), user].filter((each) => each.length > 2);
  return secrets.reduce(
    (text, secret) => text.replaceAll(secret, secret === url ? withoutSecrets(url) : '***'),
    message,
  );
}

function decoded(text: string): string {
  return attempt(() => decodeURIComponent(text)) ?? text;
}
