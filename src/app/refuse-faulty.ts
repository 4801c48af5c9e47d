/** Faults of a workflow that are certain to fail. Raymond finds them before a run spends money. */
import { withinReach } from '../graph/within-reach.ts';
import { cannotBranch } from '../lint/agents.ts';
import { lint } from '../lint/lint.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { type Door, warnings } from '../model/notice.ts';
import { shellWord } from '../model/shell-word.ts';
import type { StateName } from '../model/state-name.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import type { RunOptions } from '../options/run-options.ts';
import { isStateFile } from '../parse/state.ts';
import type { WorkflowLibrary } from '../ports.ts';
import { placed } from '../world/diagnostic-line.ts';
import { give } from './started-run.ts';

type Paths = Pick<WorkflowLibrary, 'pathOf'>;

/**
 * Reports the faults of a workflow. Refuses it if an agent could reach a state that cannot be read or
 * that lint calls an error. `--no-lint` allows the latter.
 */
export function refuseFaulty(
  library: Paths,
  workflow: Workflow,
  door: Door,
  options: Pick<RunOptions, 'lint'>,
): void {
  const own = [...workflow.diagnostics, ...cannotBranch(workflow)];
  const isConcerned = concernedIn(workflow);
  const found = own.filter((one) => one.severity !== 'note' && isConcerned(one));
  const errors = lintErrors(workflow).filter((one) => !found.some((other) => isSame(one, other)));
  tell(library, workflow, [...found, ...errors], door);
  const unreadable = found.find(isError);
  const first = unreadable ?? (options.lint === false ? undefined : errors[0]);
  if (!first) return;
  const { line, column } = first;
  const remedy = unreadable ? 'Fix them.' : 'Fix them, or start it all the same with --no-lint.';
  throw new UserError(
    'broken-workflow',
    `The workflow ${workflow.name} has errors.`,
    `${remedy} To see all of them: raymond lint ${shellWord(workflow.ref)}`,
    { file: library.pathOf(workflow.ref, first.file), line, column },
  );
}

/**
 * A run that continues keeps the workflows that it has accepted, even if a newer rule finds an error in
 * them. Files that have changed since then are checked like those of a new run.
 */
export function reportFaults(
  library: Paths & Pick<WorkflowLibrary, 'get'>,
  refs: readonly string[],
  changed: readonly string[],
  door: Door,
  options: Pick<RunOptions, 'lint'>,
): void {
  for (const ref of new Set(refs)) {
    const workflow = library.get(ref);
    if (!workflow) continue;
    if (changed.includes(ref)) {
      refuseFaulty(library, workflow, door, options);
      continue;
    }
    const errors = lintErrors(workflow);
    if (errors.length === 0) continue;
    tell(library, workflow, errors, door);
    const text = `Lint finds errors in ${workflow.name}. The run continues, because it has begun with this workflow.`;
    give(door, warnings([text]));
  }
}

function lintErrors(workflow: Workflow): readonly Diagnostic[] {
  const errors = lint(workflow).filter(isError);
  return errors.length === 0 ? [] : errors.filter(concernedIn(workflow));
}

const isError = ({ severity }: Diagnostic) => severity === 'error';

const isSame = (a: Diagnostic, b: Diagnostic) =>
  a.code === b.code && a.file === b.file && a.line === b.line && a.column === b.column;

function tell(library: Paths, workflow: Workflow, found: readonly Diagnostic[], door: Door): void {
  for (const one of found)
    door.notice({ kind: 'diagnostic', diagnostic: placed(library, workflow, one) });
}

/** Whether a fault is in a state that an agent could reach, or in a file that is no state. */
function concernedIn(workflow: Workflow): (diagnostic: Diagnostic) => boolean {
  const files = new Set(withinReach(workflow).map((name) => fileOf(workflow, name)));
  return ({ file }) => files.has(file) || !isStateFile(file);
}

function fileOf({ states }: Workflow, name: StateName): string {
  const state = states.get(name);
  if (state?.kind === 'broken') return state.diagnostics[0]?.file ?? name;
  return state?.place.file ?? name;
}
