/** Signatures of people, with the keys that they use for ssh: `ssh-keygen -Y`. No other file knows its options. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A signature that somebody made for another purpose is not valid here. */
export const SIGNATURE_NAMESPACE = 'raymond';

export interface SignedText {
  readonly text: string;
  readonly signature: string;
  /** The content of a file in the format of `allowed_signers`. */
  readonly approvers: string;
}

export type SignatureCheck =
  | { readonly ok: true; readonly by: string; readonly key: string }
  | { readonly ok: false; readonly why: string };

/**
 * Whose signature it is. The keys of the list count as they are now: one that is not valid any more signs
 * nothing.
 */
export function checkSignature({
  text,
  signature,
  approvers,
}: SignedText): Promise<SignatureCheck> {
  return inFolder(async (folder) => {
    const [list, file] = [join(folder, 'approvers'), join(folder, 'signature')];
    writeFileSync(list, approvers, { mode: 0o600 });
    writeFileSync(file, signature, { mode: 0o600 });
    const found = await keygen(['find-principals', '-f', list, '-s', file]);
    const by = found.stdout.split('\n').find((name) => /^[^\s*?!]+$/.test(name));
    if (!found.ok || by === undefined)
      return { ok: false, why: 'no key of the list made it, or the key is not valid any more' };
    const parts = ['verify', '-f', list, '-I', by, '-n', SIGNATURE_NAMESPACE, '-s', file];
    const verified = await keygen(parts, text);
    const key = / key (SHA256:\S+)/.exec(verified.stdout)?.[1];
    return verified.ok && key !== undefined
      ? { ok: true, by, key }
      : { ok: false, why: 'it is for another run, another question or another answer' };
  });
}

/** Signs with a private key, or with a public key whose private key ssh-agent has. */
export async function signText(
  keyFile: string,
  text: string,
): Promise<{ readonly signature: string } | { readonly why: string }> {
  const signed = await keygen(['sign', '-f', keyFile, '-n', SIGNATURE_NAMESPACE], text);
  return signed.ok ? { signature: signed.stdout } : { why: signed.stderr.trim() };
}

interface Said {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

function keygen(args: readonly string[], input = ''): Promise<Said> {
  return new Promise((resolve) => {
    const limits = { timeout: TIMEOUT_MS, maxBuffer: MOST_BYTES };
    const child = execFile('ssh-keygen', ['-Y', ...args], limits, (error, stdout, stderr) =>
      resolve({ ok: error === null, stdout, stderr: stderr || (error?.message ?? '') }),
    );
    // It may end before it has read everything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** Whoever signs may have to type a passphrase. */
const TIMEOUT_MS = 120_000;
const MOST_BYTES = 1024 * 1024;

async function inFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-sign-'));
  try {
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
