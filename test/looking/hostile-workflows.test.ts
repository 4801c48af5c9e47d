/** For any contents of a workflow, inspecting it gives an answer and never throws. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toHtml } from '../../src/draw/html.ts';
import { toMermaid } from '../../src/draw/mermaid.ts';
import { toSvg } from '../../src/draw/svg.ts';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { possibleAnswers } from '../../src/execute/rehearsal/possible-answers.ts';
import { scriptAnswers } from '../../src/explore/script-answers.ts';
import { graphOf } from '../../src/graph/graph.ts';
import { withinReach } from '../../src/graph/within-reach.ts';
import { lint, lintFailure } from '../../src/lint/lint.ts';
import { toSarif } from '../../src/lint/sarif.ts';
import type { Workflow } from '../../src/model/workflow.ts';
import { optionTable } from '../../src/options/chosen-options.ts';
import { testSettingsSchema } from '../../src/options/option-schema.ts';
import { allChoices } from '../../src/parse/agent-choices.ts';
import { readCheckedYaml } from '../../src/parse/checked-yaml.ts';
import { answerFor, rehearsalSchema } from '../../src/parse/rehearsal-file.ts';
import { testFileSchema, testsIn } from '../../src/parse/test-file.ts';
import { readYamlWorkflow } from '../../src/parse/yaml-workflow.ts';
import { readFiles } from '../lint/workflow-of.ts';
import { HOSTILE_NAMES, hostileFiles, hostileText } from './hostile-workflows.ts';

const testFiles = testFileSchema(testSettingsSchema(optionTable({ choices: allChoices(AGENTS) })));

function lookAt(workflow: Workflow): void {
  for (const platform of ['unix', 'windows'] as const) {
    toSarif(lint(workflow, { platform }), '1.0.0', AGENTS);
  }
  withinReach(workflow);
  const graph = graphOf(workflow);
  expect(toMermaid(graph)).toContain('flowchart TD');
  expect(toSvg(graph)).toContain('</svg>');
  expect(toHtml(workflow, graph)).toContain('</html>');
  for (const state of workflow.states.values()) {
    if (state.kind === 'script') scriptAnswers(workflow, state);
    if (state.kind === 'prompt') possibleAnswers(workflow, state, state.template);
  }
}

test('any files', () => {
  fc.assert(
    fc.property(hostileFiles, (files) => {
      const reading = readFiles(files, 'unix');
      if (reading.ok) lookAt(reading.workflow);
      else expect(lintFailure(reading).length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});

test('any YAML workflow, rehearsal or test file', () => {
  fc.assert(
    fc.property(hostileText, (bytes) => {
      const text = Buffer.from(bytes).toString('utf8');
      readYamlWorkflow('flow.yaml', text, AGENTS);
      readCheckedYaml(rehearsalSchema, 'rehearsal.yaml', text);
      const read = readCheckedYaml(testFiles, 'a.test.yaml', text);
      if (read.ok) testsIn(read.value);
    }),
    { numRuns: 500 },
  );
});

test.each(HOSTILE_NAMES)('a state named %j gets its own answers, and no others', (name) => {
  const execution = { state: `${name}.sh`, agent: 'main', number: 1, ofAgent: 1 };
  expect(answerFor({}, execution)).toBeUndefined();
  const answers = Object.fromEntries([[name, 'mine']]);
  expect(answerFor({ answers }, execution)).toBe('mine');
});
