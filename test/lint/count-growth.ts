/**
 * Counts the work to read, check and draw large workflows. Prints how it grows from one size to the
 * double, by case. It is a process of its own, because code that can be counted runs slowly.
 */
// Imported first, so that everything else is counted.
import './operations.ts';
import { toHtml } from '../../src/draw/html.ts';
import { toMermaid } from '../../src/draw/mermaid.ts';
import { completionsAt } from '../../src/editing/complete.ts';
import { editedWorkflow, textOf } from '../../src/editing/edited-workflow.ts';
import { hoverAt } from '../../src/editing/hover.ts';
import { formsOf, usesOf } from '../../src/editing/rename-state.ts';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { possibleAnswers } from '../../src/execute/rehearsal/possible-answers.ts';
import { scriptAnswers } from '../../src/explore/script-answers.ts';
import { graphOf } from '../../src/graph/graph.ts';
import { withinReach } from '../../src/graph/within-reach.ts';
import { lint, lintFailure } from '../../src/lint/lint.ts';
import type { Workflow } from '../../src/model/workflow.ts';
import { readYamlWorkflow } from '../../src/parse/yaml-workflow.ts';
import { frontMatterSchema } from '../../src/schemas/front-matter-schema.ts';
import { manifestSchema, workflowSchema } from '../../src/schemas/workflow-schema.ts';
import { LARGE_FOLDERS, LARGE_YAML } from './large-workflows.ts';
import { operationsOf } from './operations.ts';
import { readFiles, workflowOf } from './workflow-of.ts';

/** Above the limits of comparisons and explanations, so that those limits do not hide growth. */
const N = 210;

function growthOf(work: (n: number) => unknown, n = N): number {
  // A first call, so that work that is done only once is not counted.
  work(2);
  const [one, two] = [operationsOf(() => work(n)), operationsOf(() => work(2 * n))];
  return two / one;
}

function lookAt(workflow: Workflow): void {
  lint(workflow);
  withinReach(workflow);
  toMermaid(graphOf(workflow));
  for (const state of workflow.states.values()) {
    if (state.kind === 'script') scriptAnswers(workflow, state);
    if (state.kind === 'prompt') possibleAnswers(workflow, state, state.template);
  }
}

const growth: Record<string, number> = {};

for (const [name, make] of Object.entries(LARGE_FOLDERS)) {
  growth[name] = growthOf((n) => {
    const files = Object.entries(make(n)).map(([file, text]) => [file, Buffer.from(text)] as const);
    const reading = readFiles(new Map(files), 'unix');
    if (reading.ok) lookAt(reading.workflow);
    else lintFailure(reading);
    if (reading.ok) edit(reading.workflow, files);
  });
}

/** What an editor asks for: all places that name a state, what belongs at a place, and what a state is. */
function edit(workflow: Workflow, files: readonly (readonly [string, Buffer])[]): void {
  const edited = editedWorkflow(
    {
      ...{ ref: '/flow', name: 'flow', entry: undefined, about: {}, diagnostics: [] },
      files: files.map(([name, bytes]) => ({ name, content: { bytes } })),
    },
    undefined,
    { platform: 'unix', agents: workflow.agents },
  );
  const schemas = {
    frontMatter: frontMatterSchema(workflow.agents),
    manifest: manifestSchema(workflow.agents),
    workflow: workflowSchema(workflow.agents),
  };
  usesOf(edited, formsOf(edited, workflow.entry));
  const { text = '' } = textOf(edited, workflow.entry) ?? {};
  for (const at of [0, text.length]) {
    completionsAt(edited, workflow.entry, at, schemas);
    hoverAt(edited, workflow.entry, at, schemas);
  }
}

for (const [name, make] of Object.entries(LARGE_YAML))
  growth[`${name}, as YAML`] = growthOf((n) => readYamlWorkflow('flow.yaml', make(n), AGENTS));

const chain = LARGE_FOLDERS['a chain of states'];
growth['a graph that is too large for the better layout'] = growthOf((n) => {
  const workflow = workflowOf(chain?.(n) ?? {});
  toHtml(workflow, graphOf(workflow));
}, 2_100);

process.stdout.write(JSON.stringify(growth));
