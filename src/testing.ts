/**
 * For tests of workflows: the real language and the real loop. A scripted agent replaces models and
 * processes, the journal is in memory, and the clock never makes a test wait.
 */
import { AGENTS } from './execute/agents/agents.ts';
import { type ScriptedAnswer, scriptedAgent } from './execute/rehearsal/scripted.ts';
import { newRun } from './interpret/new-run.ts';
import type { Choice } from './model/agent.ts';
import type { RunEvent, SessionUse, Settings } from './model/event.ts';
import type { Run } from './model/run.ts';
import { UserError } from './model/user-error.ts';
import type { Platform, Workflow } from './model/workflow.ts';
import { MANIFEST } from './parse/manifest.ts';
import { extensionOf, stemOf } from './parse/state.ts';
import { parseWorkflow } from './parse/workflow.ts';
import type { Step, WorkflowLibrary } from './ports.ts';
import { type Beginning, playRun } from './workflow-tests/play.ts';

export { type ScriptedAnswer, scriptedAgent } from './execute/rehearsal/scripted.ts';

/**
 * A workflow literal: for each state, the answers of its executions in order, with or without the
 * text of the state. A name without extension is a prompt. `workflow.yaml` is the manifest.
 */
export type Script = Readonly<
  Record<string, Answers | { readonly text: string; readonly answers: Answers }>
>;
export type Answers =
  | readonly ScriptedAnswer[]
  | ((step: Step, execution: number) => ScriptedAnswer);

export interface PlayOptions {
  readonly input?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly settings?: Partial<Settings>;
  readonly platform?: Platform;
  /** Further workflows, by the path that a tag names. */
  readonly workflows?: Readonly<Record<string, Script>>;
  /** The directories that exist; by default all do. */
  readonly directories?: readonly string[];
  /**
   * Directories that exist outside the project. An agent cannot choose them unless its policy names
   * them.
   */
  readonly outside?: readonly string[];
  /** Answers to questions, in the order in which they are asked. */
  readonly answers?: readonly string[];
  /** A run of an earlier play. It is resumed, and the script has the remaining answers. */
  readonly resume?: Run;
}

export interface PlayedStep {
  readonly agent: string;
  readonly state: string;
  /** The text for the agent; empty for a script. */
  readonly prompt: string;
  /** Absent for a script. */
  readonly session: SessionUse | undefined;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string | undefined;
  readonly model: string | undefined;
  readonly effort: string | undefined;
}

export interface Played {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly steps: readonly PlayedStep[];
  /** The states that an agent executed, in order. */
  path(agent?: string): readonly string[];
}

/** Plays a workflow to its end. */
export async function play(script: Script, options: PlayOptions = {}): Promise<Played> {
  const steps: PlayedStep[] = [];
  const library = scriptedLibrary(script, options);
  const workflow = library.get(ROOT);
  if (!workflow) throw new Error('Bug: the workflow of a play is not loaded');

  const executed = new Map<string, number>();
  const agent = scriptedAgent((step) => {
    steps.push(record(step));
    // Two workflows may have states of the same name.
    const key = `${step.workflow}#${step.state}`;
    const execution = (executed.get(key) ?? 0) + 1;
    executed.set(key, execution);
    return answerTo(library.scriptOf(step.workflow), step, execution);
  });
  const { run, events } = await playRun(beginning(workflow, options), {
    library,
    executors: { prompt: agent, script: agent },
    ground: {
      findDirectory: async (path, from) => findDirectory(path, from, options),
      lookAtWorkflow: async () => ({ inProject: true, unchanged: true }),
      entryDigest: async (input) => `${input}`,
      environment: new Set(),
    },
    folders: {
      step: (id, n) => `/steps/${id}/${n}`,
      task: (id) => `/tasks/${id}`,
      hasBegun: () => false,
      notes: { put: () => {}, read: () => undefined, remove: () => {}, digest: () => '' },
      put: () => {},
    },
    replies: options.answers ?? [],
  });
  return {
    run,
    events,
    steps,
    path: (id = 'main') =>
      steps.filter((step) => step.agent === id).map((step) => stemOf(step.state)),
  };
}

const ROOT = '/workflow';

interface ScriptedLibrary extends WorkflowLibrary {
  scriptOf(ref: string): Script;
}

function scriptedLibrary(script: Script, options: PlayOptions): ScriptedLibrary {
  const platform = options.platform ?? 'unix';
  const scripts = new Map([[ROOT, script]]);
  for (const [path, other] of Object.entries(options.workflows ?? {})) scripts.set(path, other);
  const workflows = new Map(
    [...scripts].map(([ref, s]) => [ref, scriptedWorkflow(s, ref, platform)]),
  );
  return {
    get: (ref) => workflows.get(ref),
    load: async (path) => {
      const found = workflows.get(path);
      if (found) return found;
      throw new UserError(
        'no-workflow',
        `There is no workflow at ${path}.`,
        'Name one that exists.',
      );
    },
    pathOf: (_ref, file) => file,
    filesOf: () => [],
    scriptFolder: async (ref) => ref,
    scriptOf: (ref) => scripts.get(ref) ?? script,
  };
}

/** Reads a workflow literal without its answers. Throws if it has no entry. */
export function scriptedWorkflow(
  script: Script,
  ref = ROOT,
  platform: Platform = 'unix',
): Workflow {
  const encoder = new TextEncoder();
  const files = Object.entries(script).map(([name, state]) => ({
    name: fileName(name),
    content: { bytes: encoder.encode('text' in state ? state.text : `Do ${name}.`) },
  }));
  const source = { ref, name: 'workflow', entry: undefined, files, about: {}, diagnostics: [] };
  const reading = parseWorkflow(source, platform, AGENTS);
  if (!reading.ok) throw new UserError(reading.code, reading.message, reading.remedy);
  return reading.workflow;
}

function beginning(workflow: Workflow, options: PlayOptions): Beginning {
  const { resume, input } = options;
  const settings = { ...(resume ?? newRun).settings, ...options.settings };
  if (resume) return { resume, settings, input };
  return {
    start: {
      run: 'play-00000000',
      workflow: workflow.ref,
      state: workflow.entry,
      cwd: '/project',
      settings,
      metadata: options.metadata ?? {},
      ...(input !== undefined && { input }),
    },
  };
}

function answerTo(script: Script, step: Step, execution: number): ScriptedAnswer {
  const entry = Object.entries(script).find(([name]) => fileName(name) === step.state)?.[1];
  const answers = entry && ('answers' in entry ? entry.answers : entry);
  const answer =
    typeof answers === 'function' ? answers(step, execution) : answers?.[execution - 1];
  if (answer === undefined)
    throw new Error(`The play has no answer for execution ${execution} of ${step.state}.`);
  return answer;
}

function record(step: Step): PlayedStep {
  const isPrompt = step.kind === 'prompt';
  return {
    agent: step.agent,
    state: step.state,
    prompt: isPrompt ? step.prompt : '',
    session: isPrompt ? step.session : undefined,
    cwd: step.cwd,
    environment: step.environment,
    input: isPrompt ? undefined : step.input,
    model: isPrompt ? wordIn(step.choices.model) : undefined,
    effort: isPrompt ? wordIn(step.choices.effort) : undefined,
  };
}

function wordIn(choice: Choice | undefined): string | undefined {
  return typeof choice === 'string' ? choice : undefined;
}

function findDirectory(path: string, from: string, { directories, outside = [] }: PlayOptions) {
  const absolute = path.startsWith('/') ? path : `${from}/${path}`;
  const exists = !directories || [...directories, ...outside].includes(absolute);
  if (exists)
    return { found: true, path: absolute, inProject: !outside.includes(absolute) } as const;
  return { found: false, problem: `The directory ${absolute} does not exist.` } as const;
}

const fileName = (name: string) =>
  name === MANIFEST || extensionOf(name) !== undefined ? name : `${name}.md`;
