/** The agents in the user's configuration. They belong to the machine, so they are part of no run. */

/** USD per million tokens of a model. */
export interface Price {
  readonly input: number;
  /** Input that the service had stored from earlier requests. */
  readonly cached: number;
  readonly output: number;
}

/** Prices by the first letters of the names of models. */
export type Prices = Readonly<Record<string, Price>>;

export interface ConfiguredAgent {
  /** The program and its arguments. Absent if the user only sets prices for a known agent. */
  readonly command?: readonly string[];
  /** Whether it can branch sessions. Absent if the user does not say so. */
  readonly branch?: boolean;
  readonly prices: Prices;
}

/** By their names. */
export type ConfiguredAgents = Readonly<Record<string, ConfiguredAgent>>;
