/**
 * Some files with a note, as one compressed text: a line of JSON that names the files, and then their
 * bytes. Its content comes from a store that others may write, so readers check every part of it.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import * as z from 'zod/mini';

export interface NamedBytes {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The permissions; absent if they do not matter. */
  readonly mode?: number | undefined;
}

interface PackedFiles<N> {
  readonly note: N;
  readonly files: readonly NamedBytes[];
}

export async function packFiles({ note, files }: PackedFiles<unknown>): Promise<Uint8Array> {
  const listed = files.map(({ name, bytes, mode }) => ({ name, bytes: bytes.length, mode }));
  const head = Buffer.from(`${JSON.stringify({ note, files: listed })}\n`);
  return compress(Buffer.concat([head, ...files.map(({ bytes }) => bytes)]));
}

/** Throws if the bytes are not of this form, or if there are more than `mostBytes` of them. */
export async function unpackFiles<S extends z.ZodMiniType>(
  packed: Uint8Array,
  schema: S,
  mostBytes = MAX_BYTES,
): Promise<PackedFiles<z.infer<S>>> {
  const all = await decompress(packed, { maxOutputLength: mostBytes });
  const end = all.indexOf('\n');
  const head = z.parse(headSchema, JSON.parse(all.subarray(0, end).toString('utf8')));
  let from = end + 1;
  const files = head.files.map(({ name, bytes, mode }) => {
    const to = from + bytes;
    if (end < 0 || to > all.length) throw new Error('The stored files are incomplete.');
    const content = all.subarray(from, to);
    from = to;
    return { name, bytes: content, mode };
  });
  return { note: z.parse(schema, head.note), files };
}

const count = z.int().check(z.nonnegative());
const headSchema = z.object({
  note: z.unknown(),
  files: z.array(z.object({ name: z.string(), bytes: count, mode: z.optional(count) })),
});

const MAX_BYTES = 1024 * 1024 * 1024;
const compress = promisify(gzip);
const decompress = promisify(gunzip);
