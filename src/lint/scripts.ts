/** Scripts that their interpreter cannot run as they are. */

import { positionsIn } from '../graph/position.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { shebangOf } from '../parse/shebang.ts';
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

export function shebangOptions(lint: Lint): readonly Diagnostic[] {
  return scripts(lint).flatMap(({ name, text, interpreter, place }) => {
    const shebang = shebangOf(text);
    if (interpreter !== 'bash' || shebang.kind !== 'options') return [];
    return fault(
      'shebang-options',
      name,
      place,
      `${shebang.options} has no effect: Raymond runs ${name} with bash, without options.`,
      { remedy: `Write: set ${shebang.options}` },
    );
  });
}
