/** The public API: run workflows; load a workflow, interpret inputs, apply events. */
import { AGENTS } from './execute/agents/agents.ts';
import { createLibrary } from './load/load.ts';
import type { Platform, Workflow } from './model/workflow.ts';

export { apply } from './interpret/apply.ts';
export type { Workflows } from './interpret/follow.ts';
export { interpret } from './interpret/interpret.ts';
export { newRun } from './interpret/new-run.ts';
export {
  type AnswerChoices,
  answer,
  answerByCode,
  type BoundReport,
  type BoundRequest,
  bound,
  type CheckReport,
  check,
  type Diff,
  diff,
  events,
  files,
  inbox,
  type KeptRunFile,
  list,
  look,
  type Place,
  type PruneChoices,
  type PrunedRun,
  prune,
  type ResumeChoices,
  type RunChoices,
  type RunningRun,
  resume,
  resumeAll,
  rewind,
  run,
  type Said,
  type StartChoices,
  say,
  stop,
  type WantedDiff,
} from './library.ts';
export type { Diagnostic } from './model/diagnostic.ts';
export type {
  Frame,
  JournaledEvent,
  RunEvent,
  RunOutcome,
  Session,
  SessionUse,
  Settings,
  Task,
} from './model/event.ts';
export type { Failure } from './model/failure.ts';
export type { Facts, Input, StepReport } from './model/input.ts';
export type { Consent, Notice } from './model/notice.ts';
export type { RewindRequest } from './model/rewind-request.ts';
export type { Agent, AgentStatus, Run, RunStatus } from './model/run.ts';
export type { RunSummary } from './model/run-summary.ts';
export type { StateName } from './model/state-name.ts';
export type { Tag, TagName, TagReading } from './model/tag.ts';
export type { Move, Transition } from './model/transition.ts';
export { UserError } from './model/user-error.ts';
export type {
  AllowedTransition,
  Evaluator,
  Platform,
  Policy,
  State,
  Workflow,
} from './model/workflow.ts';
export { readTags } from './parse/tags.ts';

export interface LoadOptions {
  /** The start of a relative path; by default the working directory. */
  readonly cwd?: string;
  /** The platform whose script extensions count; by default that of this machine. */
  readonly platform?: Platform;
}

/**
 * Reads a workflow from a folder, a state file, a `.zip` or a `.yaml`. Throws a `UserError` if it
 * cannot be read.
 */
export function loadWorkflow(path: string, options: LoadOptions = {}): Promise<Workflow> {
  const { cwd = process.cwd(), platform = process.platform === 'win32' ? 'windows' : 'unix' } =
    options;
  return createLibrary({ cwd, platform, agents: AGENTS }).load(path);
}
