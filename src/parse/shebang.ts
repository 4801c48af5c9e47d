import { clip } from './clip.ts';

/** Raymond runs every script with bash. Its first line may name bash, or a shell that bash replaces. */
type Shebang =
  | { readonly kind: 'fine' }
  | { readonly kind: 'other'; readonly named: string }
  /** Options of the interpreter, which have no effect. */
  | { readonly kind: 'options'; readonly options: string };

export function shebangOf(script: string): Shebang {
  const named = /^#!(.*)/.exec(script)?.[1]?.trim();
  if (named === undefined || named === '') return { kind: 'fine' };
  const words = named.split(/\s+/);
  const isEnv = /(?:^|\/)env$/.test(words[0] ?? '');
  const rest = isEnv ? words.slice(1).filter((word) => word !== '-S') : words;
  const [program = '', ...options] = rest;
  if (!/(?:^|\/)(?:ba|da)?sh$/.test(program)) return { kind: 'other', named };
  return options.length > 0 ? { kind: 'options', options: options.join(' ') } : { kind: 'fine' };
}

/** A program of another language, run by bash, would do something that its author never wrote. */
export function otherShebang(name: string, named: string) {
  return {
    code: 'other-shebang',
    message: `${name} is for ${clip(named)}, but Raymond runs scripts with bash.`,
    remedy: 'Put the program into a file with another extension, and start it from here.',
  };
}
