import { explore } from '../explore/explore.ts';
import { flowFaults } from '../lint/flow-faults.ts';
import { counted } from '../model/counted.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Workflow } from '../model/workflow.ts';
import type { Problem } from './expectations.ts';
import type { TestReport } from './run-test.ts';

/** Follows every path that the workflow allows, as an additional test. Each fault on a path fails it. */
export function exploreAsTest(workflow: Workflow): TestReport {
  const started = Date.now();
  const { walk, configurations, boundHit } = explore(workflow);
  const faults = flowFaults(workflow, walk).filter(({ severity }) => severity !== 'note');
  return {
    name: `every path (${counted(configurations, 'situation')}${boundHit ? ', the limit was reached' : ''})`,
    file: workflow.ref,
    problems: faults.map(asProblem),
    durationMs: Date.now() - started,
    workflow,
    events: [],
  };
}

function asProblem({ file, line, code, message, remedy }: Diagnostic): Problem {
  return {
    what: `${file}:${line} ${code}`,
    expected: 'a path that can continue',
    got: message,
    ...(remedy !== undefined && { detail: remedy }),
  };
}
