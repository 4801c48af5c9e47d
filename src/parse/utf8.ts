type Decoded =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false /** The offset of the first invalid byte. */;
      readonly offset: number;
    };

/** Strict: no overlong forms, no surrogates, nothing beyond U+10FFFF. A leading BOM is dropped. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  const start = hasBom(bytes) ? 3 : 0;
  const text = new TextDecoder('utf-8').decode(bytes);
  // What is not UTF-8 was replaced with U+FFFD, so its bytes differ from those of the text.
  const again = encodeUtf8(text);
  let same = 0;
  while (same < again.length && again[same] === bytes[start + same]) same += 1;
  if (same === again.length && same === bytes.length - start) return { ok: true, text };
  // The difference may be inside of the replacement.
  while (isContinuation(again[same])) same -= 1;
  return { ok: false, offset: start + same };
}

export function hasBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

export function encodeUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Every platform has them, and they are pure. */
declare class TextDecoder {
  constructor(label: 'utf-8');
  decode(bytes: Uint8Array): string;
}
declare class TextEncoder {
  encode(text: string): Uint8Array;
}
