import type * as z from 'zod/mini';
import { badRequest, RequestError } from './problems.ts';

/** The checked body of a request. It is read only up to a limit. */
export async function bodyOf(request: Request, shape: z.ZodMiniType): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    throw new RequestError(
      415,
      'bad-request',
      'The body is not JSON.',
      'Send the header Content-Type: application/json',
    );
  const { data, error } = shape.safeParse(parsed(await textOf(request)));
  const [issue] = error?.issues ?? [];
  if (!issue) return data;
  const at = issue.path.length > 0 ? ` at ${issue.path.join('.')}` : '';
  throw badRequest(`The body is wrong${at}: ${issue.message}`, 'See /api/openapi.json.');
}

/** The body of a request that sends a file. Whoever reads it knows its limit. */
export function fileOf(request: Request): AsyncIterable<Uint8Array> {
  const type = request.headers.get('content-type') ?? '';
  if (/^application\/octet-stream\s*(?:;|$)/i.test(type) && request.body) return request.body;
  throw new RequestError(
    415,
    'bad-request',
    'The body is not a file.',
    'Send the header Content-Type: application/octet-stream',
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('The body is not valid JSON.', 'Send a JSON object.');
  }
}

async function textOf(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > MOST_BYTES) throw TOO_LARGE;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request.body ?? []) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw TOO_LARGE;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

const MOST_BYTES = 1024 * 1024;

const TOO_LARGE = new RequestError(
  413,
  'too-large',
  'The body is larger than 1 MiB.',
  'Send less, or put the text into a file of the project.',
);
