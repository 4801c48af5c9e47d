/** What a file is, by its content. Its name says what an agent or a stranger wants it to be. */
import { decodeUtf8 } from './utf8.ts';

/** The pictures that a page may show, and their types. A picture as SVG is a document that can act. */
export function imageType(bytes: Uint8Array): string | undefined {
  const begins = (signature: string, at = 0) =>
    [...signature].every((letter, index) => bytes[at + index] === letter.charCodeAt(0));
  if (begins('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (begins('\xff\xd8\xff')) return 'image/jpeg';
  if (begins('GIF87a') || begins('GIF89a')) return 'image/gif';
  if (begins('RIFF') && begins('WEBP', 8)) return 'image/webp';
  return undefined;
}

/** Undefined for a file that is not a text. */
export function textIn(bytes: Uint8Array): string | undefined {
  const read = bytes.includes(0) ? undefined : decodeUtf8(bytes);
  return read?.ok ? read.text : undefined;
}
