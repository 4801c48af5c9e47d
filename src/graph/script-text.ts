import type { Interpreter, ScriptState } from '../model/workflow.ts';
import { readBash } from './bash-text.ts';
import { once } from './once.ts';
import { withQuietSubstitutions } from './substitutions.ts';

type Script = Pick<ScriptState, 'text' | 'interpreter'>;

/** A script's text as it would print it, without running it: variables stay as they are. */
interface PlainScript {
  readonly text: string;
  /** The offset in the script of an offset in the text. */
  readonly origin: (offset: number) => number;
}

/** Removes the quotes and escapes of the shell and blanks comments, so that tags can be read. */
export function plainScript(script: Script): PlainScript {
  const source = quietScript({ ...script, text: withoutComments(script) });
  const escapes = [...source.matchAll(SYNTAX[script.interpreter].escapes)];
  const dropped = [...(bashTextOf(script)?.quotes ?? []), ...escapes.map(({ index }) => index)];
  dropped.sort((a, b) => a - b);
  return { text: without(source, dropped), origin: (offset) => shift(offset, dropped) };
}

function without(text: string, dropped: readonly number[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const at of dropped) {
    pieces.push(text.slice(from, at));
    from = at + 1;
  }
  return pieces.join('') + text.slice(from);
}

/** The script with spaces in place of its comments. */
export function withoutComments(script: Script): string {
  const { text, interpreter } = script;
  const bash = bashTextOf(script);
  if (!bash) {
    return text.replace(SYNTAX[interpreter].comment, (line) => ' '.repeat(line.length));
  }
  const pieces: string[] = [];
  let done = 0;
  for (const [from, to] of bash.comments) {
    pieces.push(text.slice(done, from), ' '.repeat(to - from));
    done = to;
  }
  return pieces.join('') + text.slice(done);
}

const bashTextOf = once(({ text, interpreter }: Script) =>
  interpreter === 'bash' ? readBash(text) : undefined,
);

/** The script without the quotes that its shell uses in substitutions. */
export function quietScript({ text, interpreter }: Script): string {
  return interpreter === 'bash' ? withQuietSubstitutions(text) : text;
}

interface Syntax {
  readonly comment: RegExp;
  /** An escape: one character, and the one that it stands for. */
  readonly escapes: RegExp;
}

const SYNTAX: Readonly<Record<Interpreter, Syntax>> = {
  bash: { comment: /^[ \t]*#.*$/gm, escapes: /\\["'<>/$`]/g },
  cmd: { comment: /^[ \t]*@?(?:rem\b|::).*$/gim, escapes: /\^[<>&|"]/g },
  powershell: { comment: /^[ \t]*#.*$/gm, escapes: /`["'$<>]/g },
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
