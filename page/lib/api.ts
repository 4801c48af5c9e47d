/** The one way to the server. A failure is an `ApiTrouble` that states the fact and the remedy. */
import { acceptToken, refuseToken, session } from './session.ts';

export interface Trouble {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

export class ApiTrouble extends Error {
  readonly status: number;
  readonly trouble: Trouble;

  constructor(status: number, trouble: Trouble) {
    super(trouble.message);
    this.status = status;
    this.trouble = trouble;
  }

  /** The way to the server is closed. This says nothing about the runs: they have their own processes. */
  get isAway(): boolean {
    return this.status === 0 || this.isSignedOut;
  }

  /** The tab has no valid token. */
  get isSignedOut(): boolean {
    return this.status === UNAUTHORIZED;
  }
}

let project: string | undefined;

/** From now on, all requests are about this project. */
export function askAbout(folder: string | undefined): void {
  project = folder;
}

function withProject(path: string): string {
  if (project === undefined) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ project })}`;
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  answerOf<T>(path, signal ? { signal } : {});

export const post = <T>(path: string, body: object): Promise<T> =>
  answerOf<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Sends a file as it is. */
export const upload = <T>(path: string, body: Blob): Promise<T> =>
  answerOf<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body,
  });

async function answerOf<T>(path: string, init: RequestInit): Promise<T> {
  const response = await request(path, init);
  return (await response.json().catch(() => ({}))) as T;
}

const UNAUTHORIZED = 401;

/** The response, if it says that all is well. Without a token that may be valid, nothing is sent. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const { value } = session;
  if (value.kind !== 'held') throw new ApiTrouble(UNAUTHORIZED, SIGNED_OUT[value.kind]);
  const headers = { ...init.headers, authorization: `Bearer ${value.token}` };
  const sent = fetch(withProject(path), {
    ...init,
    headers,
    credentials: 'omit',
    redirect: 'error',
  });
  const response = await sent.catch((error) => {
    if (init.signal?.aborted) throw error;
    throw new ApiTrouble(0, UNREACHABLE);
  });
  if (response.ok) {
    acceptToken();
    return response;
  }
  if (response.status !== UNAUTHORIZED)
    throw new ApiTrouble(response.status, await troubleOf(response));
  refuseToken(value.token);
  throw new ApiTrouble(UNAUTHORIZED, SIGNED_OUT.refused);
}

const SIGNED_OUT: Readonly<Record<'none' | 'refused', Trouble>> = {
  none: {
    code: 'no-token',
    message: 'This tab has no key for the server.',
    remedy:
      'In the terminal, raymond serve printed an address that contains it. Open that address in this tab.',
  },
  refused: {
    code: 'no-token',
    message: 'raymond serve was started again, and this tab has the key of the earlier one.',
    remedy:
      'Open the new address that it printed in its terminal. If you open it in this tab, the page continues here. Runs are not affected.',
  },
};

export const UNREACHABLE: Trouble = {
  code: 'unreachable',
  message: 'The server does not answer.',
  remedy: 'Runs continue without it. Start it again: raymond serve',
};

async function troubleOf(response: Response): Promise<Trouble> {
  const body: unknown = await response.json().catch(() => undefined);
  const error = fieldOf(body, 'error');
  const text = (name: string) => {
    const value = fieldOf(error, name);
    return typeof value === 'string' ? value : '';
  };
  return {
    code: text('code') || String(response.status),
    message: text('message') || `The server answered with status ${response.status}.`,
    remedy: text('remedy'),
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The trouble to show for anything that was thrown. */
export function troubleFrom(error: unknown): Trouble {
  if (error instanceof ApiTrouble) return error.trouble;
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'page', message: `The page failed: ${message}`, remedy: 'Load the page again.' };
}
