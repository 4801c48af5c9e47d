/**
 * A text that a person types, and what each key does to it. A pasted line break never sends the text:
 * only the Enter key does.
 */
export interface TypedText {
  /** The text before and after the cursor. */
  readonly before: string;
  readonly after: string;
  /** Everything up to the end of the paste is text. */
  readonly isPasting?: boolean;
}

/** A key as `node:readline` reports it. */
export interface Key {
  readonly sequence: string;
  readonly name?: string | undefined;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

export type Pressed =
  | { readonly kind: 'text'; readonly text: TypedText }
  | { readonly kind: 'send'; readonly answer: string }
  /** Ctrl-D on an empty text, Ctrl-C, Ctrl-E, and Ctrl-Z. */
  | { readonly kind: 'leave' | 'interrupt' | 'editor' | 'suspend' }
  /** Not for the text. */
  | { readonly kind: 'other' };

export const NOTHING_TYPED: TypedText = { before: '', after: '' };

export function pressed(text: TypedText, key: Key): Pressed {
  const { before, after } = text;
  if (key.name === 'paste-start') return { kind: 'text', text: { before, after, isPasting: true } };
  if (key.name === 'paste-end') return typed(cleaned(before), after);
  if (text.isPasting)
    return { kind: 'text', text: { ...text, before: `${before}${key.sequence}` } };
  switch (nameOf(key)) {
    case 'return':
    case 'enter':
      return { kind: 'send', answer: `${before}${after}`.replace(/\n$/, '') };
    case 'meta+return':
      return typed(`${before}\n`, after);
    case 'ctrl+c':
      return { kind: 'interrupt' };
    case 'ctrl+d':
      return before === '' && after === '' ? { kind: 'leave' } : typed(before, withoutFirst(after));
    case 'ctrl+e':
      return { kind: 'editor' };
    case 'ctrl+z':
      return { kind: 'suspend' };
    case 'backspace':
    case 'ctrl+h':
      return typed(withoutLast(before), after);
    case 'delete':
      return typed(before, withoutFirst(after));
    case 'left':
    case 'ctrl+b':
      return cursorAt(text, withoutLast(before).length);
    case 'right':
    case 'ctrl+f':
      return cursorAt(text, before.length + after.length - withoutFirst(after).length);
    case 'ctrl+left':
    case 'meta+left':
    case 'meta+b':
      return cursorAt(text, wordStart(before));
    case 'ctrl+right':
    case 'meta+right':
    case 'meta+f':
      return cursorAt(
        text,
        before.length + (/^[^\p{L}\p{N}]*[\p{L}\p{N}]*/u.exec(after)?.[0].length ?? 0),
      );
    case 'home':
    case 'ctrl+a':
      return cursorAt(text, lineStart(before));
    case 'end':
      return cursorAt(text, before.length + lineEnd(after));
    case 'up':
    case 'ctrl+p':
      return upwards(text);
    case 'down':
    case 'ctrl+n':
      return downwards(text);
    case 'ctrl+u':
      return typed(before.slice(0, lineStart(before)), after);
    case 'ctrl+k':
      return typed(before, after.slice(lineEnd(after) || /^\n?/.exec(after)?.[0].length));
    case 'ctrl+w':
    case 'meta+backspace':
      return typed(before.slice(0, wordStart(before)), after);
    default:
      return isLetter(key) ? typed(`${before}${key.sequence}`, after) : { kind: 'other' };
  }
}

/**
 * Keys that arrived together. A person does not type so fast: this is a paste of a terminal that does not
 * mark pastes, or text from before the question. Only an Enter at its end can send it.
 */
export function together(keys: readonly Key[]): readonly Key[] {
  const isLineEnd = ({ name, meta }: Key) => (name === 'return' || name === 'enter') && !meta;
  if (keys.some(({ name }) => name === 'paste-start' || name === 'paste-end')) return keys;
  return keys.map((key, i) =>
    isLineEnd(key) && i < keys.length - 1 ? { ...key, name: 'return', meta: true } : key,
  );
}

/** The cursor moves to the end of the line. */
export function atLineEnd({ before, after }: TypedText): TypedText {
  const end = lineEnd(after);
  return { before: `${before}${after.slice(0, end)}`, after: after.slice(end) };
}

const typed = (before: string, after: string): Pressed => ({
  kind: 'text',
  text: { before, after },
});

function cursorAt({ before, after }: TypedText, at: number): Pressed {
  const whole = `${before}${after}`;
  return typed(whole.slice(0, at), whole.slice(at));
}

function nameOf({ name, ctrl, meta }: Key): string {
  return `${ctrl ? 'ctrl+' : ''}${meta ? 'meta+' : ''}${name}`;
}

function isLetter({ sequence, ctrl, meta }: Key): boolean {
  return !ctrl && !meta && !CONTROL.test(sequence);
}

const CONTROL = /\p{Cc}/u;

/** The control characters of a paste are left out, except line breaks and tabs. */
function cleaned(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/(?![\n\t])\p{Cc}/gu, '');
}

function withoutFirst(text: string): string {
  return text.slice(lettersOf(text.slice(0, LONGEST_LETTER))[0]?.length ?? 0);
}

function withoutLast(text: string): string {
  const end = lettersOf(text.slice(-LONGEST_LETTER)).at(-1);
  return text.slice(0, text.length - (end?.length ?? 0));
}

/**
 * An emoji or a letter with accents can consist of several characters. To make a segmenter takes longer than
 * most other parts of a start, so only a keypress makes one.
 */
function lettersOf(text: string): readonly string[] {
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
}

const LONGEST_LETTER = 64;

/** Words as in a shell: Ctrl-W removes everything back to a space. */
const wordStart = (before: string) => before.length - (/\S*\s*$/.exec(before)?.[0].length ?? 0);

const lineStart = (before: string) => before.lastIndexOf('\n') + 1;

function lineEnd(after: string): number {
  const at = after.indexOf('\n');
  return at < 0 ? after.length : at;
}

function upwards(text: TypedText): Pressed {
  const { before } = text;
  const start = lineStart(before);
  if (start === 0) return { kind: 'other' };
  const above = lineStart(before.slice(0, start - 1));
  return cursorAt(text, Math.min(above + before.length - start, start - 1));
}

function downwards(text: TypedText): Pressed {
  const { before, after } = text;
  const end = lineEnd(after);
  if (end === after.length) return { kind: 'other' };
  const below = before.length + end + 1;
  const length = lineEnd(after.slice(end + 1));
  return cursorAt(text, below + Math.min(before.length - lineStart(before), length));
}
