/** A program that speaks the protocol for an agent, and says or does more than the protocol describes. */
import type { Usage } from '../../model/step-account.ts';
import type { Login } from '../agents/program-checks.ts';
import type { Fields } from '../json.ts';

export interface Adapter {
  /** The agent itself, which the program starts. */
  readonly starts: StartedAgent;
  /** The text that follows the answer to `session/new`, before any prompt. Empty if none follows. */
  greetingIn(opened: unknown): string;
  /** Whether a chunk of a message is a remark of the program, and not a part of the model's answer. */
  isRemark(chunk: Fields): boolean;
  /** A prompt that the program answers without the model. Raymond sends it after each turn. */
  readonly question: string;
  readStatement(answer: string): Statement;
  /** It keeps a session only from the first complete message of the model on. */
  readonly keepsFromFirstAnswer: boolean;
  /** It loads a session that it has not kept as an empty one. */
  readonly loadsAnything: boolean;
}

export interface StartedAgent {
  readonly program: string;
  /** The environment variable that may name another program. */
  readonly variable: string;
  /** The oldest version that the adapter can use. */
  readonly oldest: string;
  /** How to install a version that it can use. */
  readonly remedy: string;
  /** How a user logs in. */
  readonly login: string;
  /** Arguments with which it shows whether the user is logged in, and variables that keep it local. */
  readonly loginQuestion: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readLogin(answer: string): Login;
}

/** The facts about a session that the protocol does not carry. */
export interface Statement {
  /** The cost of all its turns. */
  readonly totalUsd: number | undefined;
  /** Their tokens. */
  readonly totalUsage: Usage | undefined;
  /** Why the last turn has no whole answer. */
  readonly fault: string | undefined;
}
