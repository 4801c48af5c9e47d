/** Answers in fewer bytes. A browser shows an event when it happens, so each event of a stream leaves at once. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';

export const takesGzip = (accepted: string | undefined): boolean =>
  /(^|,)\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*(,|$))|,|$)/i.test(accepted ?? '');

interface Wanted {
  readonly accepted: string | undefined;
  /** The value of `If-None-Match`. */
  readonly known: string | undefined;
}

/** A complete answer, with a tag of its content. Without a body if the caller has the same one. */
export async function packed(response: Response, { accepted, known }: Wanted): Promise<Response> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers = new Headers(response.headers);
  const { status } = response;
  if (status === 200) {
    const tag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    headers.set('etag', tag);
    if (known?.split(/\s*,\s*/).includes(tag)) return new Response(null, { status: 304, headers });
  }
  if (body.length < WORTH_PACKING || !takesGzip(accepted))
    return new Response(body.length === 0 ? null : body, { status, headers });
  headers.set('content-encoding', 'gzip');
  headers.set('vary', 'accept-encoding');
  return new Response(new Uint8Array(await promisify(gzip)(body)), { status, headers });
}

/** In bytes. The head of an answer is about as long. */
const WORTH_PACKING = 1_000;

export type Pack = (text: string) => Promise<Uint8Array>;

/** Packs the texts of one stream. Most of an event repeats words of the events before it. */
export function packer(): Pack {
  const stream = createGzip();
  let parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  return (text) =>
    new Promise((resolve, reject) => {
      stream.once('error', reject);
      stream.write(text);
      stream.flush(constants.Z_SYNC_FLUSH, () => {
        stream.off('error', reject);
        const made = Buffer.concat(parts);
        parts = [];
        resolve(made);
      });
    });
}

export function plain(): Pack {
  const encoder = new TextEncoder();
  return async (text) => encoder.encode(text);
}
