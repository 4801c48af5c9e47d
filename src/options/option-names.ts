/** The names of an option on the command line and in files. */
import type { OptionSpec } from '../model/option.ts';

export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The form of an option in help and documents: for a switch, the form that is not the default. */
export function shownName({ name, isOn }: OptionSpec): string {
  return isOn ? `no-${name}` : name;
}

/** An option's name in a config file, in the form for documents. */
export const configKey = (spec: OptionSpec): string => withUnderscores(shownName(spec));

/** All its names in the file. A switch has two: `wait = false` is the same as `no_wait = true`. */
export function configKeys({ name, kind }: OptionSpec): readonly string[] {
  const key = withUnderscores(name);
  return kind === 'flag' ? [key, `no_${key}`] : [key];
}

/** Whether a key turns a switch off. */
export function isNegated({ name, kind }: OptionSpec, key: string): boolean {
  return kind === 'flag' && key !== withUnderscores(name);
}

const withUnderscores = (name: string) => name.replaceAll('-', '_');
