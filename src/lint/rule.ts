import type { Way } from '../graph/ways.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type {
  Platform,
  Position,
  PromptState,
  ScriptState,
  State,
  Workflow,
} from '../model/workflow.ts';
import { isStateFile } from '../parse/state.ts';

/** The input of a rule. */
export interface Lint {
  readonly workflow: Workflow;
  /** The states that can run on the platform. */
  readonly states: readonly State[];
  readonly ways: ReadonlyMap<StateName, readonly Way[]>;
  readonly options: LintOptions;
}

export interface LintOptions {
  /** The platform to check for, if it is not the workflow's own. */
  readonly platform?: Platform;
  /** Names that the run receives with `--set`. */
  readonly variables?: readonly string[];
  /** 0 is unlimited. */
  readonly budgetUsd?: number;
}

/** The first position of a state in its file. */
export function startOf(state: State | undefined): Position {
  const isPart = state && state.kind !== 'broken' && state.place.file !== state.name;
  return isPart ? state.place : { line: 1, column: 1 };
}

/** The file that contains a state. In a YAML workflow, several states share one file. */
export function fileOf({ states }: Workflow, name: string): string {
  const state = isStateFile(name) ? states.get(name) : undefined;
  return state && state.kind !== 'broken' ? state.place.file : name;
}

export type Rule = (lint: Lint) => readonly Diagnostic[];

export function prompts({ states }: Lint): readonly PromptState[] {
  return states.filter((state): state is PromptState => state.kind === 'prompt');
}

export function scripts({ states }: Lint): readonly ScriptState[] {
  return states.filter((state): state is ScriptState => state.kind === 'script');
}

export function allWays({
  ways,
}: Lint): readonly { readonly state: StateName; readonly way: Way }[] {
  return [...ways].flatMap(([state, own]) => own.map((way) => ({ state, way })));
}
