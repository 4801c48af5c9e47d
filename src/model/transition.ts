/**
 * A tag that was checked: it has what its kind needs and nothing that it may not have. Targets are
 * still names as written; only a workflow can resolve them.
 */
export type Transition =
  | Fork
  | Ask
  | { readonly tag: 'goto'; readonly target: string; readonly input?: string }
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
      /** For the agent of the state that it leads to. */
      readonly choices: Readonly<Record<string, string>>;
    }
  | { readonly tag: 'result'; readonly payload: string }
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
      /** For the agent of the state that it leads to. */
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
  readonly variables: Readonly<Record<string, string>>;
}

export interface Ask {
  readonly tag: 'ask';
  readonly question: string;
  readonly next: string;
  readonly timeoutMs?: number;
  readonly timeoutNext?: string;
}

/** What one step decided: any number of workers, and where the agent itself goes. */
export interface Move {
  readonly forks: readonly Fork[];
  readonly own: Exclude<Transition, Fork>;
}
