/**
 * A run option: a row of the one table from which the command line, the config files, the settings of
 * tests, the help and the JSON Schema of the config file are made.
 */
export type OptionSpec = {
  /** A switch is named by what holds when it is on: `--wait`, `--no-wait`, `wait = false`. */
  readonly name: string;
  readonly kind: 'flag' | 'number' | 'count' | 'text' | 'list';
  readonly placeholder?: string;
  /** A switch that is on unless somebody turns it off. */
  readonly isOn?: true;
  /** Of a switch: the meaning of the form that is not the default. */
  readonly meaning: string;
  /** As it is written in a config file. */
  readonly example: string;
  /** Names that Raymond knows. */
  readonly known?: readonly string[];
  /** What is wrong with a value, as a remedy; undefined when nothing is. */
  readonly check?: (value: string) => string | undefined;
  /** Of a number: seconds, which the command line also takes as `10m`. */
  readonly isDuration?: true;
  /** Of a count: 0 is not one. */
  readonly isPositive?: true;
  /** What its value names, as seen from the file that says it. A program is looked up when it has no slash. */
  readonly path?: 'file' | 'file or JSON' | 'program';
  /** A resume keeps what the run was started with. */
  readonly onlyAtStart?: true;
  /** A test of a workflow may set it. */
  readonly inTests?: true;
} & (
  | { readonly only: 'command-line' }
  | {
      readonly only?: 'config';
      /**
       * Whether the config file of a project may say this by itself. A project can come from
       * anybody: what runs programs, permits more, spends more or writes elsewhere needs the
       * user's trust. A function says for which values; the folder is the project's.
       */
      readonly inProject: 'harmless' | 'dangerous' | IsDangerous;
    }
);

export type IsDangerous = (value: unknown, folder: string) => boolean;
