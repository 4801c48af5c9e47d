/** Tags that are correct in a script's text and wrong in its output, because the shell changes them. */

import { type Mention, mentionsOf } from '../graph/mentions.ts';
import { once } from '../graph/once.ts';
import { quietScript } from '../graph/script-text.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ScriptState } from '../model/workflow.ts';
import { fault } from './codes.ts';
import { type Lint, scripts } from './rule.ts';

export function badlyPrintedTags(lint: Lint): readonly Diagnostic[] {
  return scripts(lint).flatMap((script) =>
    mentionsOf(script).flatMap((mention) => {
      // The command `raymond tag` writes the tag.
      if (script.text.charAt(mention.from) === 'r') return [];
      const found = bareTag(script, mention) ?? lostQuotes(script, mention);
      if (!found) return [];
      return fault('unreadable-tag', script.name, mention, found.message, { remedy: found.remedy });
    }),
  );
}

const quietText = once(quietScript);

interface TagFault {
  readonly message: string;
  readonly remedy: string;
}

/** `echo <goto>NEXT</goto>`: the shell reads < and > as redirections. */
function bareTag({ text, interpreter }: ScriptState, { from }: Mention): TagFault | undefined {
  const before = lineBefore(text, from);
  if (!/^\s*@?(?:echo|printf|write-output|write-host)\b/i.test(before)) return undefined;
  const isEscaped = /[\\^`]$/.test(before);
  if (isEscaped || quoteAtEnd(before) !== undefined) return undefined;
  return {
    message: 'This tag is outside quotes, so the shell reads < and > as redirections.',
    remedy:
      interpreter === 'cmd'
        ? 'Write ^< and ^> for each < and >.'
        : "Put it in quotes, for example: echo '<goto>NEXT</goto>'.",
  };
}

/** `echo "<call return="R">S</call>"`: bash removes the inner quotes. */
function lostQuotes(script: ScriptState, { from, to }: Mention): TagFault | undefined {
  const { interpreter } = script;
  const text = quietText(script);
  if (interpreter === 'cmd' || quoteAtEnd(lineBefore(text, from)) !== '"') return undefined;
  if (!/^<[^>]*[^>\\`]"/.test(text.slice(from, to))) return undefined;
  return {
    message: 'The quotes in this tag end the string around it, and the shell removes them.',
    remedy: `Use the other kind of quote for one of them, for example: echo '<call return="R">S</call>'.`,
  };
}

/** The part of the line before a tag. Empty on a very long line, which no author writes by hand. */
function lineBefore(text: string, offset: number): string {
  const from = Math.max(0, offset - LONGEST_LINE);
  const piece = text.slice(from, offset);
  const lineStart = piece.lastIndexOf('\n') + 1;
  return lineStart === 0 && from > 0 ? '' : piece.slice(lineStart);
}

const LONGEST_LINE = 1_000;

/** The quote that is still open at the end of a part of a line. */
function quoteAtEnd(piece: string): string | undefined {
  let open: string | undefined;
  for (let at = 0; at < piece.length; at++) {
    const char = piece[at];
    if (char === '\\' && open !== "'") at++;
    else if (open === undefined && (char === '"' || char === "'")) open = char;
    else if (char === open) open = undefined;
  }
  return open;
}
