/** The work to read, check and draw a workflow grows in proportion to its size. */
// Imported first, so that everything else is counted.
import '../operations.ts';
import { describe, expect, test } from 'vitest';
import { toHtml } from '../../src/draw/html.ts';
import { toMermaid } from '../../src/draw/mermaid.ts';
import { AGENTS } from '../../src/execute/agents.ts';
import { possibleAnswers } from '../../src/execute/possible-answers.ts';
import { scriptAnswers } from '../../src/explore/script-answers.ts';
import { graphOf } from '../../src/graph/graph.ts';
import { withinReach } from '../../src/graph/within-reach.ts';
import { lint, lintFailure } from '../../src/lint/lint.ts';
import type { Workflow } from '../../src/model/workflow.ts';
import { readYamlWorkflow } from '../../src/parse/yaml-workflow.ts';
import { operationsOf } from '../operations.ts';
import { LARGE_FOLDERS, LARGE_YAML } from './large-workflows.ts';
import { readFiles, workflowOf } from './workflow-of.ts';

/** Above the limits of comparisons and explanations, so that those limits do not hide growth. */
const N = 240;

function expectLinear(work: (n: number) => unknown, n = N): void {
  // A first call, so that work that is done only once is not counted.
  work(2);
  const [one, two] = [operationsOf(() => work(n)), operationsOf(() => work(2 * n))];
  expect(two / one).toBeLessThan(2.1);
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

describe('reads, checks and draws in linear time', () => {
  test.each(Object.entries(LARGE_FOLDERS))('%s', (_, make) => {
    expectLinear((n) => {
      const files = Object.entries(make(n)).map(
        ([name, text]) => [name, Buffer.from(text)] as const,
      );
      const reading = readFiles(new Map(files), 'unix');
      if (reading.ok) lookAt(reading.workflow);
      else lintFailure(reading);
    });
  });
});

describe('reads YAML in linear time', () => {
  test.each(Object.entries(LARGE_YAML))('%s', (_, make) => {
    expectLinear((n) => readYamlWorkflow('flow.yaml', make(n), AGENTS));
  });
});

test('draws a graph that is too large for the better layout in linear time', () => {
  const chain = LARGE_FOLDERS['a chain of states'];
  expectLinear((n) => {
    const workflow = workflowOf(chain?.(n) ?? {});
    toHtml(workflow, graphOf(workflow));
  }, 2_500);
});
