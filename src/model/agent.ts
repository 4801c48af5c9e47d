/**
 * What an executor says of its agent. The language carries what is chosen for an agent without knowing
 * what it means: models, permission modes and tools are the executor's own business.
 */
import type { Diagnostic } from './diagnostic.ts';
import type { OptionSpec } from './option.ts';

/** One thing that somebody chose for an agent. */
export type Choice = string | boolean | readonly string[];

/** What was chosen, by the names that the agent's declaration has. */
export type Choices = Readonly<Record<string, Choice>>;

export interface AgentDeclaration {
  readonly name: string;
  readonly can: AgentAbilities;
  /** Everything that may be chosen for it, in the order in which people see it. */
  readonly choices: readonly AgentChoice[];
  /** What a run has chosen when nobody chose anything. */
  readonly usual: Choices;
  /** The kinds of faults that its own checks find in a workflow. */
  readonly faults: Readonly<Record<string, FaultKind>>;
  /** What holds for a turn. */
  combine(levels: ChoiceLevels): Choices;
  /** Why a turn that began with `was` must not continue now; undefined when it may. */
  tightened(was: Choices, now: Choices): string | undefined;
  /** What one person or file says, in one form. Throws a UserError when it contradicts itself. */
  oneVoice(said: Choices, who: string): Choices;
  /** What a run has chosen when somebody says this over what held before. Throws a UserError. */
  choose(said: Choices, before: Choices, folder: string): Choices;
  /** What may be kept of a run that somebody else started. */
  withoutHarm(choices: Choices): Choices;
  /** What a person should know before such a run is resumed, by name; `none` is not worth a line. */
  factsOf(choices: Choices): Readonly<Record<string, string>>;
  /** For standard error, before anything is done: no option hides it. */
  warningsOf(choices: Choices): readonly string[];
}

export interface AgentAbilities {
  /** It can begin a session with the memory of another one. */
  readonly branch: boolean;
  /** Its turns outlive Raymond, and can be taken up again. */
  readonly adopt: boolean;
  /** It reports what a turn costs. */
  readonly cost: boolean;
  /** It can be told what it may do unasked. */
  readonly permissions: boolean;
}

export interface ChoiceLevels {
  readonly run: Choices;
  readonly state: Choices;
  /** What the tag said that led to the state. */
  readonly tag: Choices;
}

export interface AgentChoice {
  /** As `permissionMode`: front matter has it as `permission_mode`. */
  readonly name: string;
  /** Present when front matter may make the choice. */
  readonly inState?: StateChoice;
  /** Present when a person may make it for a run. */
  readonly option?: OptionSpec;
  /** Whether a tag that calls a function may make it. */
  readonly inTags?: true;
  /** It is shown in drawings of a workflow. */
  readonly isDrawn?: true;
  /** It permits nothing, so that anybody may make it, also whoever wrote a run that came with a project. */
  readonly isHarmless?: true;
}

export type StateChoice = {
  /** In one line. */
  readonly meaning: string;
  /** The value must be this, as in "the name of a mode". */
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

/** What is wrong with a choice: not what is expected at all, or a fault of a kind of its own. */
export type ChoiceFault =
  | 'unexpected'
  | Pick<Diagnostic, 'severity' | 'code' | 'message' | 'remedy' | 'nearest'>;

export interface FaultKind {
  readonly severity: Diagnostic['severity'];
  /** What it means, in one line. */
  readonly meaning: string;
}
