import type { Interpreter, ScriptState } from '../model/workflow.ts';

/** A script's text as it would print it, as far as that can be told without running it. */
export interface PlainScript {
  readonly text: string;
  /** Where a character of the text stands in the script itself. */
  readonly origin: (offset: number) => number;
}

/** Takes the escapes of the shell out and blanks comments, so that tags can be read. */
export function plainScript(script: Pick<ScriptState, 'text' | 'interpreter'>): PlainScript {
  const { comment, escapes } = SYNTAX[script.interpreter];
  const source = script.text.replace(comment, (line) => ' '.repeat(line.length));
  const dropped: number[] = [];
  const text = source.replace(escapes, (written, escaped: string, offset: number) => {
    for (let i = 0; i < written.length - escaped.length; i++) dropped.push(offset + i);
    return escaped;
  });
  return { text, origin: (offset) => shift(offset, dropped) };
}

interface Syntax {
  readonly comment: RegExp;
  /** An escape, with what it stands for as its only group. */
  readonly escapes: RegExp;
}

const SYNTAX: Readonly<Record<Interpreter, Syntax>> = {
  bash: { comment: /^[ \t]*#.*$/gm, escapes: /\\(["'<>/$`])/g },
  cmd: { comment: /^[ \t]*@?(?:rem\b|::).*$/gim, escapes: /\^([<>&|"])/g },
  powershell: { comment: /^[ \t]*#.*$/gm, escapes: /`(["'$<>])/g },
};

/** `dropped` holds, in order, the offsets of the characters that were taken out. */
function shift(offset: number, dropped: readonly number[]): number {
  let low = 0;
  let high = dropped.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((dropped[middle] ?? 0) - middle <= offset) low = middle + 1;
    else high = middle;
  }
  return offset + low;
}
