/**
 * Fetches a workflow that others share: an archive, or a folder of a git repository. It arrives as an archive,
 * so that everything in it passes the checks of archives. Nothing of it is executed.
 */
import { createWriteStream } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join, resolve } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withSettings } from '../execute/git/inert-config.ts';
import { runGit } from '../execute/git/run-git.ts';
import { isSystemError, reasonOf } from '../journal/disk-errors.ts';
import { messageOf } from '../model/message-of.ts';
import { NETWORK_REASONS } from '../model/network-reasons.ts';
import { UserError } from '../model/user-error.ts';

/** Where a shared workflow comes from. */
export type SharedSource =
  | { readonly kind: 'archive'; readonly address: string; readonly isLocal: boolean }
  | {
      readonly kind: 'git';
      readonly repository: string;
      /** The folder in the repository; empty for its root. */
      readonly folder: string;
      /** A branch, a tag or a commit. */
      readonly ref: string | undefined;
    };

/** Reads `flow.zip`, `https://host/flow.zip` and `<repository>.git//folder@ref`. Undefined if it is neither. */
export function readSource(text: string): SharedSource | undefined {
  const [, repository, folder = '', ref] =
    /^(.+?\.git)(?:\/\/([^@]*))?(?:@(.+))?$/.exec(text) ?? [];
  if (repository !== undefined) {
    const isSafe = ![repository, ref ?? ''].some((word) => /^-|[\s\p{Cc}]/u.test(word));
    const isInside = !/(?:^|\/)\.\.?(?:\/|$)|\p{Cc}|^\//u.test(folder);
    return isSafe && isInside ? { kind: 'git', repository, folder, ref } : undefined;
  }
  if (!/\.zip$/i.test(text)) return undefined;
  const isLocal = !/^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  return isLocal || isFetched(text) ? { kind: 'archive', address: text, isLocal } : undefined;
}

/** The name of the workflow, if the user gives none. */
export function nameOf(source: SharedSource): string {
  const path = source.kind === 'git' ? source.folder || source.repository : source.address;
  return basename(path, extname(path));
}

/** Calls `use` with the path of the archive, which exists only until `use` is done. */
export async function withArchive<T>(
  source: SharedSource,
  cwd: string,
  use: (archive: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'raymond-add-'));
  try {
    const archive = join(folder, `${nameOf(source)}.zip`);
    try {
      if (source.kind === 'git') await archiveOf(source, cwd, folder, archive);
      else if (source.isLocal) await copyFile(resolve(cwd, source.address), archive);
      else await download(source.address, archive);
    } catch (error) {
      if (error instanceof UserError) throw error;
      const from = source.kind === 'git' ? source.repository : source.address;
      throw new UserError(
        'not-fetched',
        `${from} cannot be fetched: ${whyNot(error)}`,
        'Check the address, and whether you may read it.',
      );
    }
    return await use(archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What `fetch` throws only says that it failed. The reason is in its cause, which may have nothing but a code. */
function whyNot(error: unknown): string {
  if (isSystemError(error)) return `${reasonOf(error)}.`;
  const { cause } = error instanceof Error ? error : {};
  if (!(cause instanceof Error)) return messageOf(error);
  const code = 'code' in cause ? String(cause.code) : '';
  return `the server cannot be reached: ${NETWORK_REASONS[code] ?? (cause.message || code)}.`;
}

type GitSource = Extract<SharedSource, { readonly kind: 'git' }>;

/** Git checks nothing out, so it runs no filter and no hook, and writes no file of the repository. */
async function archiveOf(
  { repository, folder, ref }: GitSource,
  cwd: string,
  scratch: string,
  archive: string,
): Promise<void> {
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\/|^[^/]+@[^/]+:/i.test(repository);
  const at = isAddress ? repository : resolve(cwd, repository);
  const own = ['--git-dir', join(scratch, 'git')];
  const env = withSettings([]);
  await runGit({ args: [...own, 'init', '--quiet', '--bare', '--template='], env });
  await runGit({
    args: [...own, 'fetch', '--quiet', '--depth', '1', '--no-tags', '--', at, ref ?? 'HEAD'],
    env: { ...env, GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh' },
    timeoutMs: PATIENCE_MS,
  });
  await runGit({
    args: [...own, 'archive', '--format=zip', '--output', archive, `FETCH_HEAD:${folder}`],
    // The user's own settings may name filters for the files of every repository.
    env: { ...env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    timeoutMs: PATIENCE_MS,
  });
}

const PATIENCE_MS = 5 * 60_000;
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_REDIRECTS = 5;

async function download(address: string, archive: string): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  let at = address;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await fetch(at, { redirect: 'manual', signal });
    const next = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && next !== null) {
      await response.body?.cancel();
      at = new URL(next, at).href;
      if (!isFetched(at)) throw new Error(`it leads to ${at}, which is not encrypted.`);
      continue;
    }
    if (!response.ok || !response.body) throw new Error(`the server said ${response.status}.`);
    const body = Readable.fromWeb(response.body);
    return await pipeline(
      body,
      limited(),
      createWriteStream(archive, { mode: 0o600, flags: 'wx' }),
    );
  }
  throw new Error('it leads from one address to the next.');
}

/** Only this machine may be asked without encryption. */
function isFetched(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

function limited(): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length;
      if (size > MOST_BYTES) done(new Error('it is larger than 256 MiB.'));
      else done(null, chunk);
    },
  });
}
