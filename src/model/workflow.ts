import type { Agents, Choices } from './agent.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { JsonObject } from './json.ts';
import type { NotesAccess } from './notes.ts';
import type { Rights } from './rights.ts';
import type { StateName } from './state-name.ts';
import type { Tag, TagName } from './tag.ts';
import type { Trigger } from './trigger.ts';
import type { WorkflowFiles } from './workflow-files.ts';

/**
 * The platform whose script extensions count. It is a parameter everywhere, so that one machine can
 * check a workflow for another.
 */
export type Platform = 'unix' | 'windows';

/**
 * A workflow as data. It no longer shows whether its text came from a folder, a zip or a YAML file.
 */
export interface Workflow {
  /** An absolute name for the source: the argument of `load`. */
  readonly ref: string;
  readonly name: string;
  readonly platform: Platform;
  /** The agents that may take its prompts. The usual one is the author's choice, if there is one. */
  readonly agents: Agents;
  readonly entry: StateName;
  /** Every state, including those for the other platform and those that could not be read. */
  readonly states: ReadonlyMap<StateName, State>;
  readonly about: About;
  /** Absent when it was not read from files. */
  readonly files?: WorkflowFiles;
  /** All diagnostics, including those of broken states. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Facts about a workflow, from its manifest or from the top level of its YAML file. */
export interface About {
  /** The first part of the ids of its runs. */
  readonly id?: string;
  /** A name for display. */
  readonly title?: string;
  readonly description?: string;
  readonly input?: InputRule;
  readonly defaultBudgetUsd?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** The agents that take the prompts of states that name none; see `Lane`. */
  readonly agent?: readonly string[];
  /** What the processes of all its states may touch. */
  readonly rights?: Rights;
  /** The prompt that asks for a handover, and the size at which a goto needs one, for its states. */
  readonly handover?: NamedState;
  readonly context?: ContextLimit;
  /** What starts its runs without a person. */
  readonly triggers?: readonly Trigger[];
}

/** The `--input` that a workflow expects. */
export interface InputRule {
  readonly label?: string;
  readonly required: boolean;
  /** Used if the user gives none. */
  readonly default?: string;
}

export type State = PromptState | ScriptState | BrokenState;

export interface PromptState {
  readonly kind: 'prompt';
  readonly name: StateName;
  /** The prompt without its front matter, placeholders unfilled. */
  readonly template: string;
  readonly place: TextPlace;
  readonly policy: Policy;
}

export interface ScriptState {
  readonly kind: 'script';
  readonly name: StateName;
  readonly text: string;
  readonly place: TextPlace;
  readonly interpreter: Interpreter;
  readonly limits: Limits;
}

/** Where the text of a state begins in the author's file. Lines and columns count from 1. */
export interface TextPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The column at which its other lines begin. Absent if the file has other lines than the text. */
  readonly indent?: number;
}

export type Interpreter = 'bash' | 'cmd' | 'powershell';

/**
 * A file that exists but cannot be a state: bad front matter, not UTF-8, or a link out of the
 * source.
 */
export interface BrokenState {
  readonly kind: 'broken';
  readonly name: StateName;
  readonly diagnostics: readonly Diagnostic[];
}

/** Limits of a state of any kind. */
export interface Limits {
  readonly idleTimeoutMs?: number;
  readonly maxVisits?: number;
  /** What its processes may touch. */
  readonly rights?: Rights;
  /** Its steps get the notes of the run. */
  readonly notes?: NotesAccess;
}

/** The front matter of a prompt state. */
export interface Policy extends Limits {
  /** Absent: every tag is allowed, and Raymond cannot send reminders. */
  readonly allowed?: readonly AllowedTransition[];
  readonly forceImplicit: boolean;
  readonly onInterrupt: 'continue' | 'restart';
  readonly evaluators: readonly Evaluator[];
  readonly ensures: readonly Ensure[];
  /** The agents that may take the prompt, in order; absent if the state names none. See `Lane`. */
  readonly agent?: readonly string[];
  /** For the agents that may take the prompt. */
  readonly choices: Choices;
  /** The choices for one of them, by its name. */
  readonly choicesOf?: Readonly<Record<string, Choices>>;
  /** The state whose text asks for a handover when the agent leaves this state by a compact. */
  readonly handover?: NamedState;
  /** A goto from this state compacts a larger session. */
  readonly context?: ContextLimit;
  /** The choice of a model that fills placeholders without a value. */
  readonly fill?: Choices;
}

/** A state that a key names, as written. */
export interface NamedState extends Position {
  readonly name: string;
}

export interface ContextLimit extends Position {
  readonly maxTokens: number;
}

/** A position in a file. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A tag with only those parts that the policy pins. */
export interface AllowedTransition extends Position {
  readonly tag: TagName;
  /** The pinned target, payload, question or path. */
  readonly body?: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The payload must be JSON that fits it. */
  readonly schema?: PayloadSchema;
}

/** A JSON Schema for a payload. `parse/payload-schema.ts` has checked it. */
export interface PayloadSchema extends Position {
  /** The file of the workflow that contains it; '' if it is inline. */
  readonly file: string;
  /** The documents that it refers to, and its own, by file. */
  readonly documents: Readonly<Record<string, JsonSchema>>;
}

export type JsonSchema = boolean | JsonObject;

/** A command that must succeed before a transition is taken. */
export interface Ensure extends Position {
  readonly run: string;
  /** The transitions that need it; absent means all. */
  readonly on?: readonly AllowedTransition[];
  /** The text that the agent receives when the command fails. */
  readonly say?: string;
  /** How often the agent is reminded before it fails or before Raymond takes `otherwise`. */
  readonly tries: number;
  /** Taken when the last reminder did not help. */
  readonly otherwise?: Tag;
}

export type Evaluator = EvaluatorTest & Position & { readonly transition: Tag };

export type EvaluatorTest =
  | { readonly kind: 'matches'; readonly pattern: string }
  | { readonly kind: 'visits'; readonly count: number }
  | { readonly kind: 'cost'; readonly usd: number }
  /** Fires at the Nth entry with the same input and the same files. */
  | { readonly kind: 'unchanged'; readonly count: number }
  | { readonly kind: 'prompt'; readonly state: string; readonly expect: string };
