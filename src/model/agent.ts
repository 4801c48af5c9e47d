/**
 * The declaration of an agent by its executor. The language passes the choices for an agent on without
 * knowing their meaning: only the executor knows models, permission modes and tools.
 */
import type { Diagnostic } from './diagnostic.ts';
import type { OptionSpec } from './option.ts';

/** One choice for an agent. */
export type Choice = string | boolean | readonly string[];

/** Choices by the names in the agent's declaration. */
export type Choices = Readonly<Record<string, Choice>>;

/** The agents that a user can choose. */
export interface Agents {
  readonly all: readonly AgentDeclaration[];
  /** The name of the agent that takes a prompt for which the author chose none. */
  readonly usual: string;
  /** The agents that take such a prompt if the usual one cannot, in this order. */
  readonly others?: readonly string[];
  /** The choice of a user who chooses another usual agent for a run. */
  readonly choice: AgentChoice;
  /** The choices of a run for which the user chose nothing. */
  readonly defaults: Choices;
}

/**
 * One of the alternatives for a prompt: an agent, and the choices that distinguish it from the other
 * lanes of that agent.
 */
export interface Lane {
  readonly agent: string;
  readonly choices: Readonly<Record<string, string>>;
}

/** For example `claude`, or `claude opus` for one of several lanes of that agent. */
export function laneName({
  agent,
  choices = {},
}: Pick<Lane, 'agent'> & { readonly choices?: Lane['choices'] | undefined }): string {
  return [agent, ...Object.values(choices)].join(' ');
}

export interface AgentDeclaration {
  readonly name: string;
  readonly can: AgentAbilities;
  /** The provider whose usage limit it reaches, if others share it. It uses the same login as they do. */
  readonly provider?: string;
  /** All choices that it offers, in the order in which users see them. */
  readonly choices: readonly AgentChoice[];
  readonly projectSettings: ProjectSettings;
  /**
   * The choice that `fill` makes: the model for a question without tools and without the project.
   * Absent if it cannot be asked one.
   */
  readonly fills?: string;
  /** The kinds of faults that its checks find in a workflow. */
  readonly faults: Readonly<Record<string, FaultKind>>;
  /** The choices of a turn. */
  combine(levels: ChoiceLevels): Choices;
  /** Why a turn that began with `was` must not continue; undefined when it may. */
  tightened(was: Choices, now: Choices): string | undefined;
  /** Which choices of a state have no effect, because the run allows less; undefined if all take effect. */
  ignored?(run: Choices, state: Choices): string | undefined;
  /** Why it cannot follow the choices of a run; undefined when it can. */
  refusal?(choices: Choices): string | undefined;
}

/** How a project gives the agent commands, besides prompts: hooks, servers, helpers or plugins. */
export interface ProjectSettings {
  /** Files and folders in the directory of the agent, or above it. */
  readonly names: readonly string[];
  /** Those that it does not load if Raymond asks it not to. */
  readonly skips: readonly string[];
  /** Prompts of the project that it does not load in that case either. */
  readonly alsoSkips?: string;
  /** Whether the user has trusted one of these folders in the agent itself. */
  isTrusted?(folders: readonly string[]): boolean;
}

/** The rules for the choices of a run. They are the same for all agents. */
export interface RunChoiceRules {
  /** Brings the choices of one source into one form. Throws a UserError when they contradict each other. */
  normalize(given: Choices, source: string): Choices;
  /** The choices that may contradict each other. The first source that makes one of them makes them all. */
  readonly together: readonly string[];
  /** The choices of a run after `given` has overridden `before`. Throws a UserError. */
  choose(given: Choices, before: Choices, folder: string): Choices;
  /** The choices that stay when a run that another user started is resumed. */
  keepHarmless(choices: Choices): Choices;
  /** What to show the user before such a run is resumed, by name. `none` gets no line. */
  summarize(choices: Choices): Readonly<Record<string, string>>;
  /** Lines for standard error before the run starts. No option hides them. */
  warningsOf(choices: Choices): readonly string[];
  /** A few words for the line about the start of a run. */
  alarmsOf(choices: Choices): readonly string[];
}

export interface AgentAbilities {
  /** It can begin a session with the memory of another one. */
  readonly branch: boolean;
  /** Its turns outlive Raymond, and a later Raymond can adopt them. */
  readonly adopt: boolean;
  /** What it is known to report about the cost of a turn. Raymond prices tokens with a table. */
  readonly cost: 'usd' | 'tokens' | 'none';
  /** It reports the size of a session. */
  readonly context: boolean;
  /** It ends a turn that has spent its budget. Otherwise Raymond notices after the turn. */
  readonly budget: boolean;
  /** Raymond can limit what it may do without asking. */
  readonly permissions: boolean;
  /** It waits for a person before it does more than that. */
  readonly ask: boolean;
  /** It takes words of people during a turn, and reports when the model has them. */
  readonly hear?: boolean;
  /** Its sessions can continue on another machine. */
  readonly travel: boolean;
  /** Whether its processes can be confined to the rights of a state. */
  readonly rights: boolean;
}

export interface ChoiceLevels {
  readonly run: Choices;
  readonly state: Choices;
  /** The choices in the tag that led to the state. */
  readonly tag: Choices;
}

export interface AgentChoice {
  /** For example `permissionMode`, which is `permission_mode` in front matter. */
  readonly name: string;
  /** Present when front matter may make the choice. */
  readonly inState?: StateChoice;
  /** Present when a user may make it for a run. */
  readonly option?: OptionSpec;
  /** Whether a tag that calls a function may make it. */
  readonly inTags?: true;
  /**
   * Its values mean something to this agent only, so a user's choice for a run applies only to states
   * of the run's usual agent.
   */
  readonly isOwn?: true;
  /** Several values are alternatives, in order: see `Lane`. */
  readonly inLanes?: true;
  /** Diagrams of a workflow show it. */
  readonly isDrawn?: true;
  /** It permits nothing, so any source may make it, even a run that came with a project. */
  readonly isHarmless?: true;
}

export type StateChoice = {
  /** One line. */
  readonly meaning: string;
  /** The value that is expected, for example "the name of a mode". */
  readonly expected: string;
  /** For editors: a JSON Schema, draft 7. */
  readonly schema: Readonly<Record<string, unknown>>;
} & (
  | { readonly kind: 'word'; readonly fault: (word: string) => ChoiceFault | undefined }
  | {
      readonly kind: 'list';
      readonly item: { readonly expected: string; readonly pattern: RegExp };
    }
);

/** A choice that does not have the expected form, or is wrong in another way. */
export type ChoiceFault =
  | 'unexpected'
  | Pick<Diagnostic, 'severity' | 'code' | 'message' | 'remedy' | 'nearest'>;

export interface FaultKind {
  readonly severity: Diagnostic['severity'];
  /** One line. */
  readonly meaning: string;
}
