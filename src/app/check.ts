/**
 * Everything that can be found out about a workflow without running it, as one report: for agents and
 * people who write workflows. Executes nothing, and takes a bounded time.
 */
import { explore } from '../explore/explore.ts';
import type { LooseLibrary } from '../load/load.ts';
import { counted } from '../model/counted.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { FailureKind } from '../model/failure.ts';
import { messageOf } from '../model/message-of.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { stemOf } from '../parse/state.ts';
import { readConfiguration } from '../world/config/configuration.ts';
import { diagnosticLine } from '../world/diagnostic-line.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { looseLibrary } from '../world/wire.ts';
import { type BoundReport, boundOfLoaded } from './bound.ts';
import { boundLines, boundText } from './bound-words.ts';
import { diagnose } from './diagnose.ts';
import { type RehearsalWish, type Rehearsed, rehearse } from './rehearse.ts';

export interface CheckReport {
  /** Nothing was found; something that the author may have meant; something that cannot work. */
  readonly verdict: 'ready' | 'doubtful' | 'faulty';
  readonly workflow: string;
  /** The next thing to do. */
  readonly next: string;
  /** The findings of lint, the errors first. */
  readonly findings: readonly Diagnostic[];
  readonly findings_omitted: number;
  /** null: the workflow cannot be read. */
  readonly explored: Explored | null;
  readonly bound: (BoundReport & { readonly text: string }) | null;
  readonly rehearsal: Rehearsed | null;
}

interface Explored {
  /** Every path was walked to its end. */
  readonly complete: boolean;
  readonly situations: number;
  readonly states_reached: number;
  readonly states_missed: readonly string[];
  readonly transitions_taken: number;
  readonly transitions_known: number;
}

/** A workflow that is not where its path says. */
export interface CheckedSource extends Pick<RehearsalWish, 'fileOf'> {
  readonly library: LooseLibrary;
}

export async function check(
  around: Pick<Surroundings, 'cwd' | 'project' | 'store'>,
  path: string,
  source?: CheckedSource,
): Promise<CheckReport> {
  const { options } = await readConfiguration(around.project);
  const library = source?.library ?? looseLibrary(around.cwd, options);
  const { workflow, found } = await diagnose(library, path);
  const findings = found.toSorted((a, b) => rank(a) - rank(b));
  const looked = workflow && {
    explored: exploredIn(workflow),
    bound: await boundOfLoaded(around.store, library, workflow, options),
    rehearsal: await rehearsalOf({ cwd: around.cwd, library, workflow, fileOf: source?.fileOf }),
  };
  const [verdict, next] = judged(path, findings, looked);
  return {
    ...{ verdict, workflow: workflow?.ref ?? path, next },
    findings: findings.slice(0, MOST_FINDINGS),
    findings_omitted: Math.max(0, findings.length - MOST_FINDINGS),
    explored: looked?.explored ?? null,
    bound: looked ? { ...looked.bound, text: boundText(looked.bound) } : null,
    rehearsal: looked?.rehearsal ?? null,
  };
}

/** An agent pays for each. */
const MOST_FINDINGS = 100;

const rank = ({ severity }: Diagnostic) => ['error', 'warning', 'note'].indexOf(severity);

function exploredIn(workflow: Workflow): Explored {
  const { boundHit, configurations, states, transitions } = explore(workflow);
  return {
    complete: !boundHit,
    situations: configurations,
    states_reached: states.reached.length,
    states_missed: states.missed.slice(0, MOST_FINDINGS),
    transitions_taken: transitions.taken,
    transitions_known: transitions.known,
  };
}

/** A rehearsal file that cannot be used is a problem of the rehearsal. */
async function rehearsalOf(wish: RehearsalWish): Promise<Rehearsed> {
  try {
    return await rehearse(wish);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const message = `${messageOf(error)} ${error.remedy}`;
    const problem = { agent: 'main', state: wish.workflow.entry, kind: error.code, message };
    return { outcome: 'failed', steps: 0, agents: 0, path: [], result: null, problems: [problem] };
  }
}

interface Looked {
  readonly bound: BoundReport;
  readonly rehearsal: Rehearsed;
}

function judged(
  path: string,
  findings: readonly Diagnostic[],
  looked: Looked | undefined,
): readonly [CheckReport['verdict'], string] {
  const again = `Then check again: raymond check ${shellWord(path)}`;
  const [first] = findings;
  if (first?.severity === 'error') return ['faulty', `Fix ${diagnosticLine(first)} ${again}`];
  const problems = looked?.rehearsal.problems ?? [];
  const fault = problems.find(({ kind }) => FAULTS.has(kind));
  if (fault)
    return ['faulty', `Fix ${stemOf(fault.state)}, which failed: ${fault.message} ${again}`];
  const doubts = looked ? doubtsOf(findings, looked) : [];
  if (doubts.length > 0)
    return ['doubtful', `Remove these doubts, or accept them: ${doubts.join(' ')}`];
  return [
    'ready',
    `Play its tests: raymond test ${shellWord(path)}. Then start it: raymond ${shellWord(path)}`,
  ];
}

/** Failures that a run would also have. Others come from what a rehearsal cannot know. */
const FAULTS: ReadonlySet<string> = new Set([
  ...([
    'several-transitions',
    'bad-transition',
    'forbidden-transition',
    'missing-state',
    'ambiguous-state',
    'broken-state',
    'bad-workflow',
    'too-deep',
    'too-many-agents',
    'too-many-forks',
  ] satisfies FailureKind[]),
  'bad-file',
]);

function doubtsOf(findings: readonly Diagnostic[], { bound, rehearsal }: Looked) {
  const warnings = findings.filter(({ severity }) => severity === 'warning').length;
  const { outcome, problems } = rehearsal;
  return [
    ...(warnings > 0 ? [`Lint has ${counted(warnings, 'warning')}.`] : []),
    ...(bound.prompts === null ? boundLines(bound) : []),
    ...problems.map(({ state, message }) => `In a rehearsal, ${stemOf(state)} failed: ${message}`),
    ...(outcome === 'completed' || problems.length > 0
      ? []
      : [`A rehearsal did not end (${outcome}).`]),
  ];
}
