/** The agents in the user's configuration. They belong to the machine and are not part of any run. */

/** USD per million tokens of a model. */
export interface Price {
  readonly input: number;
  /** Input that the service had stored from earlier requests. */
  readonly cached: number;
  readonly output: number;
}

/** Prices by prefixes of model names. */
export type Prices = Readonly<Record<string, Price>>;

export interface ConfiguredAgent {
  /** The program and its arguments. Absent if the user only sets prices for a known agent. */
  readonly command?: readonly string[];
  /** Whether it can branch sessions; absent if the user did not specify it. */
  readonly branch?: boolean;
  /** Hosts that it needs itself, in a state with rights. */
  readonly hosts?: readonly string[];
  /** Absolute paths of files and folders that it changes, such as its sessions. */
  readonly writes?: readonly string[];
  readonly prices: Prices;
}

/** By their names. */
export type ConfiguredAgents = Readonly<Record<string, ConfiguredAgent>>;
