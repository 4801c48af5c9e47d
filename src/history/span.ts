import type { StateName } from '../model/state-name.ts';

/**
 * A part of the time of an agent.
 * - `work`: a step ran.
 * - `retry`: it waited before it repeated a failed step.
 * - `limit`: it waited for the usage limit.
 * - `ask`: it waited for a person: for an answer, or for a permission in a step.
 * - `join`: it waited for its children.
 */
export interface Span {
  readonly agent: string;
  readonly kind: 'work' | 'retry' | 'limit' | 'ask' | 'join';
  readonly workflow: string;
  readonly state: StateName;
  readonly from: number;
  readonly to: number;
  /** The step that ran or waited for a permission; absent for other waits. */
  readonly step?: number | undefined;
  /** Whether that step is a prompt. */
  readonly isPrompt?: boolean | undefined;
  /** The children that a join waits for. */
  readonly children?: readonly string[] | undefined;
  /** How the step ended; absent if it gave an answer, or is not over. */
  readonly end?: 'failed' | 'interrupted' | undefined;
  /** A rewind has abandoned the step. */
  readonly isAbandoned?: true;
  readonly costUsd: number;
  /** A part of the cost was computed with a table of prices. */
  readonly isPriced?: true | undefined;
}
