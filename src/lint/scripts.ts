/** Scripts that their interpreter cannot run as they are. */

import { positionsIn } from '../graph/position.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { fault } from './codes.ts';
import { type Lint, scripts } from './rule.ts';

export function notText(lint: Lint): readonly Diagnostic[] {
  return scripts(lint).flatMap(({ name, text, place }) => {
    const at = text.indexOf('\0');
    if (at < 0) return [];
    return fault(
      'not-text',
      name,
      positionsIn(text, place)(at),
      `${name} contains NUL characters, so it is not a script.`,
      {
        remedy:
          'Save it as plain UTF-8 text. Put a program into another file, and start it from a script.',
      },
    );
  });
}

export function crlfScripts(lint: Lint): readonly Diagnostic[] {
  return scripts(lint).flatMap(({ name, text, interpreter, place }) => {
    const at = interpreter === 'bash' ? text.indexOf('\r\n') : -1;
    if (at < 0) return [];
    return fault(
      'crlf-script',
      name,
      positionsIn(text, place)(at),
      `${name} has Windows line endings (CRLF), which bash reads as part of its commands.`,
      {
        remedy: `Save it with LF line endings, and put "*.sh text eol=lf" into .gitattributes.`,
      },
    );
  });
}

export function otherShebangs(lint: Lint): readonly Diagnostic[] {
  return scripts(lint).flatMap(({ name, text, interpreter, place }) => {
    const shebang = /^#!(.*)/.exec(text)?.[1]?.trim();
    const isFine = shebang === undefined || /(?:^|[/\s])(?:ba|da|z|k)?sh(?:\s|$)/.test(shebang);
    if (isFine || interpreter !== 'bash') return [];
    return fault(
      'other-shebang',
      name,
      place,
      `${name} names ${shebang}, but Raymond runs it with bash.`,
      {
        remedy: 'Write it for bash, or put the program into another file and start it from here.',
      },
    );
  });
}
