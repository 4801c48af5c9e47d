import type { Settings } from './event.ts';

/**
 * A run option: a row in the only table of options, from which Raymond builds the command line, the
 * config files, the settings of tests, the help, and the JSON Schema of the config file.
 */
export type OptionSpec = {
  /**
   * The name of a switch says what is true when it is on: `--wait`, `--no-wait`, `wait = false`.
   */
  readonly name: string;
  readonly kind: 'flag' | 'number' | 'count' | 'text' | 'list';
  readonly placeholder?: string;
  /** Not a switch, but `--no-` before its name turns it off. */
  readonly canBeOff?: true;
  /** A switch that is on by default. */
  readonly isOn?: true;
  /** For a switch: the meaning of the form that is not the default. */
  readonly meaning: string;
  /** The value as written in a config file. */
  readonly example: string;
  /** Names that Raymond knows. */
  readonly known?: readonly string[];
  /** Several values are alternatives, in order: with commas, or as a list in a file. */
  readonly hasAlternatives?: true;
  /** Why a value is wrong, as a remedy; undefined when it is valid. */
  readonly check?: (value: string) => string | undefined;
  /** For a number: it is in seconds, which the command line also accepts as `10m`. */
  readonly isDuration?: true;
  /** For a count: 0 is not allowed. */
  readonly isPositive?: true;
  /**
   * The kind of path in its value, relative to the file that sets it. A program without a slash is
   * looked up in PATH.
   */
  readonly path?: 'file' | 'file or JSON' | 'program';
  /** Its value may contain a password, so it is never shown. */
  readonly isSecret?: true;
  /** Its value may look like an option of Raymond. */
  readonly holdsOptions?: true;
  /** A resume keeps the value from the start of the run. */
  readonly onlyAtStart?: true;
  /** A test of a workflow may set it. */
  readonly inTests?: true;
  /** When it is on, it turns these off if a source of lower precedence has set them. */
  readonly excludes?: readonly string[];
  /** The setting of a run that contains its value. */
  readonly setting?: keyof Settings;
} & (
  | { readonly only: 'command-line' }
  | {
      readonly only?: 'config';
      /**
       * Whether the config file of a project may set this without the trust of the user. A project can
       * come from anyone, so a value that runs programs, permits more, spends more or writes elsewhere
       * needs trust. A function decides by the value; `folder` is the folder of the project.
       */
      readonly inProject: 'harmless' | 'dangerous' | IsDangerous;
    }
);

export type IsDangerous = (value: unknown, folder: string) => boolean;
