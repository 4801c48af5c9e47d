import type { Interpreter, ScriptState } from '../model/workflow.ts';
import { withQuietSubstitutions } from './substitutions.ts';

/** A script's text as it would print it, without running it: variables stay as they are. */
export interface PlainScript {
  readonly text: string;
  /** The offset in the script of an offset in the text. */
  readonly origin: (offset: number) => number;
}

/** Removes the escapes of the shell and blanks comments, so that tags can be read. */
export function plainScript(script: Pick<ScriptState, 'text' | 'interpreter'>): PlainScript {
  const { escapes } = SYNTAX[script.interpreter];
  const source = withoutComments({ ...script, text: quietScript(script) });
  const dropped: number[] = [];
  const text = source.replace(escapes, (written, escaped: string, offset: number) => {
    for (let i = 0; i < written.length - escaped.length; i++) dropped.push(offset + i);
    return escaped;
  });
  return { text, origin: (offset) => shift(offset, dropped) };
}

/** The script with spaces in place of its comments. */
export function withoutComments({
  text,
  interpreter,
}: Pick<ScriptState, 'text' | 'interpreter'>): string {
  return text.replace(SYNTAX[interpreter].comment, (line) => ' '.repeat(line.length));
}

/** The script without the quotes that its shell uses in substitutions. */
export function quietScript({
  text,
  interpreter,
}: Pick<ScriptState, 'text' | 'interpreter'>): string {
  return interpreter === 'bash' ? withQuietSubstitutions(text) : text;
}

interface Syntax {
  readonly comment: RegExp;
  /** An escape; its only group is the character that it stands for. */
  readonly escapes: RegExp;
}

const SYNTAX: Readonly<Record<Interpreter, Syntax>> = {
  bash: { comment: /^[ \t]*#.*$/gm, escapes: /\\(["'<>/$`])/g },
  cmd: { comment: /^[ \t]*@?(?:rem\b|::).*$/gim, escapes: /\^([<>&|"])/g },
  powershell: { comment: /^[ \t]*#.*$/gm, escapes: /`(["'$<>])/g },
};

/** `dropped` lists, in order, the offsets of the removed characters. */
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
