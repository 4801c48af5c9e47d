/** The one way to the server. A failure is an `ApiTrouble` that states the fact and the remedy. */
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

  /** The server did not answer. This says nothing about the runs: they have their own processes. */
  get isUnreachable(): boolean {
    return this.status === 0;
  }
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  answerOf<T>(path, signal ? { signal } : {});

export const post = <T>(path: string, body: object): Promise<T> =>
  answerOf<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function answerOf<T>(path: string, init: RequestInit): Promise<T> {
  const response = await request(path, init);
  return (await response.json().catch(() => ({}))) as T;
}

/** The response, if it says that all is well. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { credentials: 'same-origin', ...init }).catch((error) => {
    if (init.signal?.aborted) throw error;
    throw new ApiTrouble(0, UNREACHABLE);
  });
  if (response.ok) return response;
  throw new ApiTrouble(response.status, await troubleOf(response));
}

const UNREACHABLE: Trouble = {
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
