import { type Tag, TRANSITION_TAGS } from '../model/tag.ts';

interface TagCommand {
  readonly tag: Tag;
  readonly from: number;
  readonly to: number;
}

/** The tags that a script prints with `raymond tag`. Values that the shell computes stay as written. */
export function tagCommands(script: string): readonly TagCommand[] {
  return [...script.matchAll(COMMAND)].flatMap(({ index, 0: command, 1: name, 2: rest = '' }) => {
    const known = TRANSITION_TAGS.find((one) => one === name);
    if (!known) return [];
    const words = [...rest.matchAll(WORD)].map(([word]) => unquoted(word));
    return [{ tag: { name: known, ...partsOf(words) }, from: index, to: index + command.length }];
  });
}

/** Up to the end of the command: the line, or what separates commands outside of quotes. */
const COMMAND =
  /\braymond[ \t]+tag[ \t]+([a-z-]+)((?:"(?:\\.|[^"\\])*"|'[^']*'|\\[\s\S]|\$\([^()\n]*\)|<\([^()\n]*\)|[^"'\\\n;|&)])*)/g;

const WORD = /(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\$\([^()\n]*\)|<\([^()\n]*\)|\\[^\n]|[^\s"'\\])+/g;

const unquoted = (word: string) => word.replace(/["']|\\(?=["'$`\\ ])/g, '');

function partsOf(words: readonly string[]): Pick<Tag, 'attributes' | 'body'> {
  const attributes: Record<string, string> = {};
  let body: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const [, option, joined] = /^(--?[a-z-]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (option === undefined || (body === undefined && word === '-')) {
      body ??= word;
      continue;
    }
    if (option === '--') continue;
    const value = joined ?? words[++at] ?? '';
    if (option === '--attr' || option === '-a') {
      const equals = value.indexOf('=');
      if (equals > 0) attributes[value.slice(0, equals)] = value.slice(equals + 1);
    } else if (option === '--input' || option === '--input-file') {
      attributes.input = value;
    } else if (option === '--body-file' || option === '--json') {
      body ??= '$(cat)';
    }
  }
  return { attributes, body: body ?? '' };
}
