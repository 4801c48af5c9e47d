/**
 * The address that `raymond serve` prints has the token in its fragment, which no server and no log
 * sees. The page exchanges it for a cookie that scripts cannot read, and removes it from the address.
 */
import { ApiTrouble, request } from './api.ts';

export interface Address {
  readonly hash: string;
  /** Replaces the entry in the history, so that the token is not in it. */
  readonly replace: (hash: string) => void;
}

export async function signIn({ hash, replace }: Address): Promise<void> {
  const { token, rest } = tokenIn(hash);
  if (token === undefined) return;
  replace(rest);
  const headers = { authorization: `Bearer ${token}` };
  await request('/api/session', { method: 'POST', headers }).catch((error) => {
    // An old link, but the browser may have a cookie. If not, the first reading says so.
    if (!(error instanceof ApiTrouble)) throw error;
  });
}

/** `#token=abc` or `#token=abc&to=/runs/x`. */
export function tokenIn(hash: string): {
  readonly token: string | undefined;
  readonly rest: string;
} {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const token = fields.get('token');
  if (token === null || hash.startsWith('#/')) return { token: undefined, rest: hash };
  return { token, rest: `#${fields.get('to') ?? '/'}` };
}
