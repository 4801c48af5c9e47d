import { type LintOptions, lint, lintFailure } from '../lint/lint.ts';
import type { LooseLibrary } from '../load/load.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { WorkflowError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { nearHere, placed } from '../world/diagnostic-line.ts';

export interface Diagnosis {
  /** Absent if it cannot be read. */
  readonly workflow?: Workflow;
  readonly found: readonly Diagnostic[];
}

/** All faults of a workflow, including a missing or broken first state. */
export async function diagnose(
  library: Pick<LooseLibrary, 'load' | 'pathOf'>,
  path: string,
  options: LintOptions = {},
): Promise<Diagnosis> {
  try {
    const workflow = await library.load(path);
    const found = lint(workflow, options);
    return { workflow, found: found.map((one) => placed(library, workflow, one)) };
  } catch (error) {
    if (!(error instanceof WorkflowError)) throw error;
    const found = lintFailure({ ok: false, ...error, message: error.message });
    return { found: found.map((one) => ({ ...one, file: nearHere(one.file) })) };
  }
}
