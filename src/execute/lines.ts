/** One line of an output, and the offset of the byte after it. */
export interface Line {
  readonly text: string;
  readonly end: number;
}

/**
 * Splits bytes that arrive in pieces into lines. An agent can write a line of any length. A line above the
 * limit is left out, so the work stays in proportion to the bytes.
 */
export function lineReader(
  from = 0,
  mostBytes = 32 * 1024 * 1024,
): (piece: Buffer | string) => readonly Line[] {
  let parts: Buffer[] = [];
  let size = 0;
  let at = from;
  const take = (last: Buffer): string | undefined => {
    const isTooLong = size + last.length > mostBytes;
    const text = isTooLong ? undefined : Buffer.concat([...parts, last]).toString('utf8');
    parts = [];
    size = 0;
    return text;
  };
  const keep = (rest: Buffer) => {
    size += rest.length;
    // The chunk is reused, so its bytes are copied. A line that is too long keeps only its size.
    if (size <= mostBytes) parts.push(Buffer.from(rest));
    else parts = [];
  };
  return (piece) => {
    const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece;
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const text = take(chunk.subarray(start, end));
      start = end + 1;
      if (text !== undefined) lines.push({ text, end: at + start });
    }
    if (start < chunk.length) keep(chunk.subarray(start));
    at += chunk.length;
    return lines;
  };
}

const NEWLINE = 0x0a;
