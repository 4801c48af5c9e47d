/** Scripts that their interpreter cannot run as written. */

import { positionsIn } from '../graph/position.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { fault } from './codes.ts';
import { type Lint, scripts } from './rule.ts';

export function notText(lint: Lint): readonly Diagnostic[] {
  return scripts(lint).flatMap(({ name, text }) => {
    const at = text.indexOf('\0');
    if (at < 0) return [];
    return fault(
      'not-text',
      name,
      positionsIn(text)(at),
      `${name} holds NUL characters: it is not a script.`,
      {
        remedy:
          'Save it as plain UTF-8 text. A program belongs in a file of its own that a script starts.',
      },
    );
  });
}

export function crlfScripts(lint: Lint): readonly Diagnostic[] {
  return scripts(lint).flatMap(({ name, text, interpreter }) => {
    const at = interpreter === 'bash' ? text.indexOf('\r\n') : -1;
    if (at < 0) return [];
    return fault(
      'crlf-script',
      name,
      positionsIn(text)(at),
      `${name} has Windows line ends (CRLF), which bash takes for part of its commands.`,
      {
        remedy: `Save it with LF line ends, and put "*.sh text eol=lf" into .gitattributes.`,
      },
    );
  });
}

export function otherShebangs(lint: Lint): readonly Diagnostic[] {
  return scripts(lint).flatMap(({ name, text, interpreter }) => {
    const shebang = /^#!(.*)/.exec(text)?.[1]?.trim();
    const isFine = shebang === undefined || /(?:^|[/\s])(?:ba|da|z|k)?sh(?:\s|$)/.test(shebang);
    if (isFine || interpreter !== 'bash') return [];
    return fault(
      'other-shebang',
      name,
      { line: 1, column: 1 },
      `${name} asks for ${shebang}, but is run with bash.`,
      {
        remedy: 'Write it for bash, or keep the program in another file and start it from here.',
      },
    );
  });
}
