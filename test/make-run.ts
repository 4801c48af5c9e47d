/**
 * A run under test: the real language and the real fold, while the test supplies the inputs. Each
 * input advances the time by one second. Directories exist unless they are named `missing`.
 */
import { apply } from '../src/interpret/apply.ts';
import type { Workflows } from '../src/interpret/follow.ts';
import { interpret } from '../src/interpret/interpret.ts';
import { needs } from '../src/interpret/needs.ts';
import { newRun } from '../src/interpret/new-run.ts';
import { JOURNAL_VERSION, type RunEvent, type Settings } from '../src/model/event.ts';
import type { Failure, FailureKind } from '../src/model/failure.ts';
import type { Facts, Input, StepReport } from '../src/model/input.ts';
import type { Agent, Run } from '../src/model/run.ts';
import type { Account } from '../src/model/step-account.ts';
import type { WorkflowFiles } from '../src/model/workflow-files.ts';
import type { AgentWorktree, WorktreeLook } from '../src/model/worktree.ts';
import { readTags } from '../src/parse/tags.ts';
import { type Script, scriptedWorkflow } from '../src/testing.ts';

export interface Stage {
  run: Run;
  now: number;
  readonly events: RunEvent[];
  /** Directories that are not in the project. */
  readonly outside: Set<string>;
  readonly workflows: Workflows;
  /** The branches that exist. */
  readonly branches: Set<string>;
  /** The content of the worktrees of agents at the end of their steps; nothing by default. */
  readonly looks: Map<string, WorktreeLook>;
  agent(id?: string): Agent;
  /** Interprets an input and applies its events. */
  handle(input: Input): readonly RunEvent[];
  /** Asks for an agent's next step. */
  start(agent?: string): readonly RunEvent[];
  /** Ends an agent's running step, with its answer or another outcome. */
  end(outcome: string | StepReport, agent?: string, costUsd?: number): readonly RunEvent[];
  /** Starts and ends a step; returns the events of the end. */
  turn(outcome: string | StepReport, agent?: string, costUsd?: number): readonly RunEvent[];
  idle(who?: { attended?: boolean; patient?: boolean }): readonly RunEvent[];
  stop(how: 'drain' | 'now', why?: 'shutdown'): readonly RunEvent[];
  resume(change?: Partial<Settings>, input?: string, how?: { fresh: boolean }): readonly RunEvent[];
}

export interface StageOptions {
  readonly settings?: Partial<Settings>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Further workflows, by path. */
  readonly others?: Readonly<Record<string, Script>>;
  /** The files from which workflows were read, by path; the first workflow is /flow. */
  readonly files?: Readonly<Record<string, WorkflowFiles>>;
}

export function makeRun(script: Script, options: StageOptions = {}): Stage {
  const refs = new Map([['/flow', scriptedWorkflow(script, '/flow')]]);
  for (const [path, other] of Object.entries(options.others ?? {})) {
    refs.set(path, scriptedWorkflow(other, path));
  }
  for (const [path, files] of Object.entries(options.files ?? {})) {
    const workflow = refs.get(path);
    if (workflow) refs.set(path, { ...workflow, files });
  }
  const workflows: Workflows = (ref) => refs.get(ref);
  const entry = refs.get('/flow')?.entry;
  if (!entry) throw new Error('The workflow of a stage has an entry.');
  let sessions = 0;

  const stage: Stage = {
    run: newRun,
    now: 1_000_000,
    events: [],
    outside: new Set(['/etc']),
    branches: new Set(),
    looks: new Map(),
    workflows,
    agent: (id = 'main') => {
      const agent = stage.run.agents.get(id);
      if (!agent) throw new Error(`The agent ${id} does not exist.`);
      return agent;
    },
    handle: (input) => {
      const events = interpret(workflows, stage.run, input);
      for (const event of events) stage.run = apply(stage.run, event);
      stage.events.push(...events);
      stage.now += 1000;
      return events;
    },
    start: (agent = 'main') =>
      stage.handle({
        kind: 'start-step',
        at: stage.now,
        agent,
        newSession: `s${++sessions}`,
        executors: { prompt: 'scripted', script: 'scripted' },
      }),
    end: (outcome, id = 'main', costUsd = 0) => {
      const agent = stage.agent(id);
      const step = agent.status.kind === 'running' ? agent.status.step : 0;
      const report =
        typeof outcome === 'string' ? answered(stage, agent, outcome, costUsd) : outcome;
      const input = { kind: 'step-ended', at: stage.now, agent: id, step } as const;
      const worktree = agent.worktree?.tree && (stage.looks.get(id) ?? unused(agent.worktree));
      return stage.handle({ ...input, outcome: report, worktree });
    },
    turn: (outcome, agent, costUsd) => {
      stage.start(agent);
      return stage.end(outcome, agent, costUsd);
    },
    idle: ({ attended = false, patient = true } = {}) =>
      stage.handle({ kind: 'idle', at: stage.now, attended, patient }),
    stop: (how, why) => stage.handle({ kind: 'stop', at: stage.now, how, why }),
    resume: (change = {}, input = undefined, how = { fresh: false }) =>
      stage.handle({
        kind: 'resume',
        at: stage.now,
        settings: { ...stage.run.settings, ...change },
        input,
        ...how,
      }),
  };
  const started: RunEvent = {
    type: 'run-started',
    version: JOURNAL_VERSION,
    at: stage.now,
    run: 'flow-00000000',
    workflow: '/flow',
    state: entry,
    cwd: '/project',
    settings: { ...newRun.settings, ...options.settings },
    metadata: options.metadata ?? {},
    ...(options.input !== undefined && { input: options.input }),
  };
  stage.events.push(started);
  stage.run = apply(newRun, started);
  return stage;
}

/** A state with front matter. A state that is never executed needs no answers. */
export function state(frontMatter: string, text = 'Work.', answers: string[] = []) {
  return { text: `---\n${frontMatter}\n---\n${text}`, answers };
}

export function failed(kind: FailureKind, costUsd = 0, more: Partial<Failure> = {}): StepReport {
  const failure = { kind, message: `It is ${kind}.`, ...more };
  return { kind: 'failed', failure, account: costing(costUsd) };
}

export function interrupted(sessionUsable = true, costUsd = 0): StepReport {
  return { kind: 'interrupted', sessionUsable, account: costing(costUsd) };
}

export const REPOSITORY = {
  repository: '/project/.git',
  base: '0123456789012345678901234567890123456789',
  folder: '/project/.raymond/worktrees/flow-00000000',
  place: '',
};

const unused = ({ branch }: AgentWorktree) => ({ branch, commits: 0, dirty: false });

const costing = (usd: number): Account => ({ cost: { usd, from: 'told' } });

export const types = (events: readonly RunEvent[]) => events.map((event) => event.type);

/** The report of an agent's running step that wrote this text. */
export function answered(
  { workflows, outside, branches }: Stage,
  agent: Agent,
  text: string,
  costUsd = 0,
): StepReport {
  const isPrompt = agent.status.kind === 'running' && agent.status.session !== undefined;
  const reading = readTags(text, { code: isPrompt ? 'heeded' : 'ignored' });
  const needed = needs(workflows, agent, reading);
  const facts: Facts = {
    directories: new Map(
      [...needed.directories].map((path) => [
        path,
        path === 'missing'
          ? { found: false, problem: 'The directory missing does not exist.' }
          : {
              found: true,
              path: path.startsWith('/') ? path : `${agent.cwd}/${path}`,
              inProject: !outside.has(path),
            },
      ]),
    ),
    workflows: new Map(
      [...needed.workflows].map((path) => {
        const workflow = workflows(path);
        return [
          path,
          workflow
            ? {
                found: true,
                ref: workflow.ref,
                entry: workflow.entry,
                inProject: !path.includes('outside'),
                unchanged: !path.includes('written'),
              }
            : { found: false, problem: `There is no workflow at ${path}.` },
        ];
      }),
    ),
    worktrees: new Map(
      [...needed.worktrees].map(([key, { base }]) => [
        key,
        base === 'missing'
          ? { found: false, problem: 'There is no branch missing.' }
          : { found: true, tree: { ...REPOSITORY, taken: branches } },
      ]),
    ),
    environment: new Set(['npm_lifecycle_event', 'in_parent']),
  };
  return {
    kind: 'answered',
    reading,
    text: isPrompt ? text : '',
    account: costing(costUsd),
    denied: [],
    facts,
  };
}
