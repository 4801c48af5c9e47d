import type { AgentDeclaration, Choices } from './agent.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { StateName } from './state-name.ts';
import type { Tag, TagName } from './tag.ts';
import type { WorkflowFiles } from './workflow-files.ts';

/** Which script endings count. A parameter everywhere, so that one machine can check for another. */
export type Platform = 'unix' | 'windows';

/** A workflow as data. Where its text came from (folder, zip, YAML file) can no longer be told. */
export interface Workflow {
  /** Names the source again: what `load` was given, made absolute. */
  readonly ref: string;
  readonly name: string;
  readonly platform: Platform;
  /** Who takes its prompts: what the author may choose for it, and what it can do. */
  readonly agent: AgentDeclaration;
  readonly entry: StateName;
  /** Every state, also those of the other platform and those that could not be read. */
  readonly states: ReadonlyMap<StateName, State>;
  readonly about: About;
  /** Absent when it was not read from files. */
  readonly files?: WorkflowFiles;
  /** All there are, also those of broken states. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What a YAML workflow may say of itself. */
export interface About {
  /** Its name for people. */
  readonly title?: string;
  readonly description?: string;
  /** What the workflow expects as `--input`, in words. */
  readonly input?: string;
  readonly defaultBudgetUsd?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

export type State = PromptState | ScriptState | BrokenState;

export interface PromptState {
  readonly kind: 'prompt';
  readonly name: StateName;
  /** The prompt without its front matter, placeholders unfilled. */
  readonly template: string;
  /** The line of its file on which the template begins, from 1. */
  readonly templateLine: number;
  /** The author's file, where that is not `name` (YAML). */
  readonly file?: string;
  readonly policy: Policy;
}

export interface ScriptState {
  readonly kind: 'script';
  readonly name: StateName;
  readonly text: string;
  /** The author's file, where that is not `name`, and the line on which the text begins there (YAML). */
  readonly origin?: { readonly file: string; readonly line: number };
  readonly interpreter: Interpreter;
}

export type Interpreter = 'bash' | 'cmd' | 'powershell';

/** A file that is there but cannot be a state: bad front matter, not UTF-8, a link that leaves the source. */
export interface BrokenState {
  readonly kind: 'broken';
  readonly name: StateName;
  readonly diagnostics: readonly Diagnostic[];
}

/** What a prompt state's front matter says. */
export interface Policy {
  /** Absent: everything is allowed, and nothing can be reminded of. */
  readonly allowed?: readonly AllowedTransition[];
  readonly idleTimeoutMs?: number;
  readonly forceImplicit: boolean;
  readonly maxVisits?: number;
  readonly onInterrupt: 'continue' | 'restart';
  readonly evaluators: readonly Evaluator[];
  /** For the agent that takes the prompt. */
  readonly choices: Choices;
}

/** A tag with only those parts that the policy pins. */
export interface AllowedTransition {
  readonly tag: TagName;
  /** The pinned target, payload, question or path. */
  readonly body?: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly line: number;
}

export type Evaluator = EvaluatorTest & { readonly transition: Tag; readonly line: number };

export type EvaluatorTest =
  | { readonly kind: 'matches'; readonly pattern: string }
  | { readonly kind: 'visits'; readonly count: number }
  | { readonly kind: 'cost'; readonly usd: number }
  | { readonly kind: 'prompt'; readonly state: string; readonly expect: string };
