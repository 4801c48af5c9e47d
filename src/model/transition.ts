import type { Approval } from './approval.ts';
import type { JoinOf, JoinRest } from './event.ts';

/**
 * A checked tag: it has all required parts, and no others. Targets are names as written, because
 * only a workflow can resolve them.
 */
export type Transition =
  | Fork
  | JoinTag
  | Ask
  | { readonly tag: 'goto' | 'compact'; readonly target: string; readonly input?: string }
  | {
      readonly tag: 'reset';
      readonly target: string;
      readonly input?: string;
      readonly cd?: string;
    }
  | {
      readonly tag: 'call';
      readonly target: string;
      readonly return: string;
      readonly input?: string;
    }
  | {
      readonly tag: 'function';
      readonly target: string;
      readonly return: string;
      readonly input?: string;
      /** For the agent of the target state. */
      readonly choices: Readonly<Record<string, string>>;
    }
  | {
      readonly tag: 'result';
      readonly payload: string;
      /** It fits the schema of its policy. */
      readonly checked?: true;
    }
  | {
      readonly tag: 'call-workflow';
      readonly path: string;
      readonly return: string;
      readonly input?: string;
    }
  | {
      readonly tag: 'function-workflow';
      readonly path: string;
      readonly return: string;
      readonly input?: string;
      readonly cd?: string;
      /** For the agent of the target state. */
      readonly choices: Readonly<Record<string, string>>;
    }
  | {
      readonly tag: 'reset-workflow';
      readonly path: string;
      readonly input?: string;
      readonly cd?: string;
    };

export type Fork =
  | (ForkParts & { readonly tag: 'fork'; readonly target: string })
  | (ForkParts & { readonly tag: 'fork-workflow'; readonly path: string });

interface ForkParts {
  readonly next?: string;
  readonly input?: string;
  readonly cd?: string;
  /** The name of the worktree in which the child works; `true` stands for the child's name. */
  readonly worktree?: string;
  /** The branch, tag or commit from which the worktree starts, if it is not the current one. */
  readonly base?: string;
  readonly variables: Readonly<Record<string, string>>;
  /**
   * The variables that are available in templates but not in the environment, because an agent chose
   * their names.
   */
  readonly withheld?: readonly string[];
}

/** The agent waits for its children. */
export interface JoinTag {
  readonly tag: 'join';
  readonly target: string;
  /** `all`: every child must end or fail. A number: this many children must give a result. */
  readonly of: JoinOf;
  readonly timeoutMs?: number;
  readonly timeoutNext?: string;
  readonly failedNext?: string;
  readonly rest?: JoinRest;
}

export interface Ask {
  readonly tag: 'ask';
  readonly question: string;
  readonly next: string;
  /** The paths of the files that are shown with it, as written. */
  readonly files?: readonly string[];
  /** The endings of the files that may come with its answer, if it limits them. */
  readonly accept?: readonly string[];
  /** Whose signatures answer it. */
  readonly approval?: Approval;
  readonly timeoutMs?: number;
  readonly timeoutNext?: string;
}

/** The decision of one step: any number of children, and the transition of the agent itself. */
export interface Move {
  readonly forks: readonly Fork[];
  readonly own: Exclude<Transition, Fork>;
}
