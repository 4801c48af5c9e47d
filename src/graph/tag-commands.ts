import { type Tag, TRANSITION_TAGS } from '../model/tag.ts';

interface TagCommand {
  readonly tag: Tag;
  readonly from: number;
  readonly to: number;
  /** The words that are its body and its attributes. */
  readonly words: readonly CommandWord[];
}

interface CommandWord {
  /** The name of the attribute; absent for the body. */
  readonly attribute?: string;
  readonly written: string;
  readonly from: number;
  readonly to: number;
}

/** The tags that a script prints with `raymond tag`. Values that the shell computes stay as written. */
export function tagCommands(script: string): readonly TagCommand[] {
  return [...script.matchAll(COMMAND)].flatMap(({ index, 0: command, 1: name, 2: rest = '' }) => {
    const known = TRANSITION_TAGS.find((one) => one === name);
    if (!known) return [];
    const to = index + command.length;
    const found = [...rest.matchAll(WORD)].map((word) => {
      const from = to - rest.length + word.index;
      return { text: unquoted(word[0]), raw: word[0], from };
    });
    const { body, attributes, words } = partsOf(found);
    return [{ tag: { name: known, attributes, body }, from: index, to, words }];
  });
}

interface Word {
  readonly text: string;
  /** As written, with its quotes. */
  readonly raw: string;
  readonly from: number;
}

/** Up to the end of the command: the line, or what separates commands outside of quotes. */
const COMMAND =
  /\braymond[ \t]+tag[ \t]+([a-z-]+)((?:"(?:\\.|[^"\\])*"|'[^']*'|\\[\s\S]|\$\([^()\n]*\)|<\([^()\n]*\)|[^"'\\\n;|&)])*)/g;

const WORD = /(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\$\([^()\n]*\)|<\([^()\n]*\)|\\[^\n]|[^\s"'\\])+/g;

const unquoted = (word: string) => word.replace(/["']|\\(?=["'$`\\ ])/g, '');

function partsOf(
  words: readonly Word[],
): Pick<Tag, 'attributes' | 'body'> & Pick<TagCommand, 'words'> {
  const attributes: Record<string, string> = {};
  const placed: CommandWord[] = [];
  let body: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? NO_WORD;
    const [, option, joined] = /^(--?[a-z-]+)(?:=([\s\S]*))?$/.exec(word.text) ?? [];
    if (option === undefined || (body === undefined && word.text === '-')) {
      if (body === undefined) placed.push(placeOf(word, word.text));
      body ??= word.text;
      continue;
    }
    if (option === '--') continue;
    const given = joined === undefined ? (words[++at] ?? NO_WORD) : word;
    const value = joined ?? given.text;
    if (option === '--attr' || option === '-a') {
      const equals = value.indexOf('=');
      if (equals <= 0) continue;
      const attribute = value.slice(0, equals);
      attributes[attribute] = value.slice(equals + 1);
      placed.push({ attribute, ...placeOf(given, value.slice(equals + 1)) });
    } else if (option === '--input' || option === '--input-file') {
      attributes.input = value;
    } else if (option === '--body-file' || option === '--json') {
      body ??= '$(cat)';
    }
  }
  return { attributes, body: body ?? '', words: placed };
}

const NO_WORD: Word = { text: '', raw: '', from: 0 };

/** A value is the end of its word. Where quotes stand in it, its place is the whole word. */
function placeOf({ raw, from }: Word, value: string): Omit<CommandWord, 'attribute'> {
  const written = value.trim();
  const at = written === '' ? -1 : raw.lastIndexOf(written);
  return at < 0
    ? { written, from, to: from + raw.length }
    : { written, from: from + at, to: from + at + written.length };
}
