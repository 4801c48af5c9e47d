export type Decoded =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false /** The offset of the first invalid byte. */;
      readonly offset: number;
    };

/** Strict: no overlong forms, no surrogates, nothing beyond U+10FFFF. A leading BOM is dropped. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  const parts: string[] = [];
  let units: number[] = [];
  let position = hasBom(bytes) ? 3 : 0;
  while (position < bytes.length) {
    const read = readCodePoint(bytes, position);
    if (!read) return { ok: false, offset: position };
    position += read.length;
    pushUnits(units, read.codePoint);
    if (units.length >= CHUNK) {
      parts.push(String.fromCharCode(...units));
      units = [];
    }
  }
  parts.push(String.fromCharCode(...units));
  return { ok: true, text: parts.join('') };
}

/** Few enough for the arguments of one call. */
const CHUNK = 8_192;

export function hasBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function readCodePoint(bytes: Uint8Array, position: number) {
  const first = bytes[position] ?? 0;
  if (first < 0x80) return { codePoint: first, length: 1 };
  const form = FORMS.find(({ from, to }) => first >= from && first <= to);
  if (!form) return undefined;
  let codePoint = first & form.mask;
  for (let i = 1; i < form.length; i++) {
    const next = bytes[position + i];
    if (next === undefined || (next & 0xc0) !== 0x80) return undefined;
    codePoint = (codePoint << 6) | (next & 0x3f);
  }
  const surrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
  if (codePoint < form.least || codePoint > 0x10ffff || surrogate) return undefined;
  return { codePoint, length: form.length };
}

const FORMS = [
  { from: 0xc2, to: 0xdf, mask: 0x1f, length: 2, least: 0x80 },
  { from: 0xe0, to: 0xef, mask: 0x0f, length: 3, least: 0x800 },
  { from: 0xf0, to: 0xf4, mask: 0x07, length: 4, least: 0x10000 },
] as const;

export function encodeUtf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), tail(code));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), tail(code >> 6), tail(code));
    else bytes.push(0xf0 | (code >> 18), tail(code >> 12), tail(code >> 6), tail(code));
  }
  return Uint8Array.from(bytes);
}

const tail = (code: number) => 0x80 | (code & 0x3f);

function pushUnits(units: number[], codePoint: number): void {
  if (codePoint < 0x10000) {
    units.push(codePoint);
    return;
  }
  const rest = codePoint - 0x10000;
  units.push(0xd800 | (rest >> 10), 0xdc00 | (rest & 0x3ff));
}
