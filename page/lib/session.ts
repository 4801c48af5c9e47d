/**
 * The token of this tab. The address that `raymond serve` prints has it in its fragment, which no server
 * and no log sees. The page keeps it in memory, and in the session storage for the next load. That
 * storage belongs to one tab and one origin, and the port is part of an origin. A cookie would not do:
 * browsers send it to every port of the address.
 */
import { Store } from './store.ts';

export type Session =
  | { readonly kind: 'held'; readonly token: string }
  /** The tab never had a token. */
  | { readonly kind: 'none' }
  /** The server does not know the token, because another process issued it. */
  | { readonly kind: 'refused'; readonly hasRead: boolean };

export const session = new Store<Session>({ kind: 'none' });

export function holdToken(token: string): void {
  session.set({ kind: 'held', token });
  withStorage((storage) => storage.setItem(KEY, token));
}

/** After a load of the page. */
export function holdStoredToken(): void {
  const token = withStorage((storage) => storage.getItem(KEY));
  if (token) session.set({ kind: 'held', token });
}

/** Whether the tab has read anything since it was loaded, with this token or an earlier one. */
let hasRead = false;

export function acceptToken(): void {
  hasRead = true;
}

/** An answer to an earlier request does not end a newer session. */
export function refuseToken(token: string): void {
  const { value } = session;
  if (value.kind !== 'held' || value.token !== token) return;
  session.set({ kind: 'refused', hasRead });
  withStorage((storage) => storage.removeItem(KEY));
}

/** Resolves when the tab has a token, or when the signal ends the wait. */
export function tokenHeld(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (session.value.kind !== 'held' && !signal.aborted) return;
      unsubscribe();
      signal.removeEventListener('abort', look);
      resolve();
    };
    const unsubscribe = session.subscribe(look);
    signal.addEventListener('abort', look);
    look();
  });
}

/** `#token=abc` or `#token=abc&to=/runs/x`. Without `to`, the page stays where it is. */
export function tokenIn(
  hash: string,
): { readonly token: string; readonly to: string | undefined } | undefined {
  if (hash.startsWith('#/')) return undefined;
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const [token, to] = [fields.get('token'), fields.get('to')];
  if (token === null) return undefined;
  // A copied address may end with a blank or a full stop, and not every character fits into a header.
  return { token: token.replace(/[^\w-]/g, ''), to: to === null ? undefined : `#${to}` };
}

const KEY = 'raymond-token';

/** A browser may forbid the storage. Then the token lasts until the page is loaded again. */
function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
