/**
 * INV-31: One check stands before every route: the token, an exact Host, and an Origin that equals it.
 *
 * Pages of other sites can send requests to this machine, and names of others can resolve to it. They
 * have no token, and the browser reports where they come from. The token is a header that only the page
 * can add. A cookie would not do: browsers send it to every port of the address, so a server on another
 * port would receive it. `test/serve/security.test.ts` sends such requests to every route of the router.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

export interface Gate {
  readonly port: number;
  readonly token: string;
}

/** The headers of a request, each as it was sent; undefined if it is absent. */
export interface Caller {
  readonly method: string;
  readonly path: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly site: string | undefined;
  readonly authorization: string | undefined;
}

export interface Refusal {
  readonly status: 401 | 403;
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

export const hostOf = (port: number) => (port === 80 ? '127.0.0.1' : `127.0.0.1:${port}`);
export const originOf = (port: number) => `http://${hostOf(port)}`;

/** Why a request is refused; undefined if it is not. */
export function refusalOf(gate: Gate, caller: Caller): Refusal | undefined {
  const address = `${originOf(gate.port)}/`;
  if (caller.host !== hostOf(gate.port))
    return {
      status: 403,
      code: 'wrong-host',
      message: 'The request names another host.',
      remedy: `Use this address: ${address}`,
    };
  const isChange = caller.method !== 'GET' && caller.method !== 'HEAD';
  const isForeign = caller.origin !== undefined && caller.origin !== originOf(gate.port);
  if (isForeign || (isChange && caller.origin === undefined))
    return {
      status: 403,
      code: 'wrong-origin',
      message: isForeign ? 'The request comes from another page.' : 'The request has no Origin.',
      remedy: `Send the header Origin: ${originOf(gate.port)}`,
    };
  if (isPublic(caller.path) && !isChange) return undefined;
  if (caller.site !== undefined && caller.site !== 'same-origin' && caller.site !== 'none')
    return {
      status: 403,
      code: 'wrong-origin',
      message: 'The request comes from another page.',
      remedy: `Open ${address} with the token that raymond serve printed.`,
    };
  if (hasToken(gate, caller)) return undefined;
  return {
    status: 401,
    code: 'no-token',
    message: 'The request has no valid token.',
    remedy: 'Open the address that raymond serve printed, or send Authorization: Bearer <token>.',
  };
}

/**
 * The page without any data. Its first load cannot send the token: the token is in the fragment of the
 * address, which only the page can read.
 */
export const PUBLIC_FILES: Readonly<Record<string, string>> = {
  '/': 'index.html',
  '/page/page.js': 'page.js',
  '/page/markdown.js': 'markdown.js',
  '/page/highlight.js': 'highlight.js',
  '/page/page.css': 'page.css',
  '/page/icon.svg': 'icon.svg',
};

const isPublic = (path: string) => Object.hasOwn(PUBLIC_FILES, path);

function hasToken(gate: Gate, { authorization }: Caller): boolean {
  const bearer = /^Bearer +([\w-]+)$/i.exec(authorization ?? '')?.[1];
  return bearer !== undefined && isSame(bearer, gate.token);
}

/** The time that this takes does not depend on where the texts differ. */
function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

const digest = (text: string) => createHash('sha256').update(text).digest();
