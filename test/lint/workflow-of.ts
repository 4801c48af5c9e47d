import type { Source } from '../../src/model/source.ts';
import type { Platform, Workflow } from '../../src/model/workflow.ts';
import { parseWorkflow, type WorkflowReading } from '../../src/parse/workflow.ts';
import { readYamlWorkflow } from '../../src/parse/yaml-workflow.ts';
import { WITH_PLAIN } from './agents.ts';

/** A workflow from its files' texts; a name without extension is a prompt. */
export function workflowOf(
  files: Readonly<Record<string, string>>,
  platform: Platform = 'unix',
): Workflow {
  const encoder = new TextEncoder();
  const bytes = Object.entries(files).map(
    ([name, text]) => [fileName(name), encoder.encode(text)] as const,
  );
  const reading = readFiles(new Map(bytes), platform);
  if (!reading.ok) throw new Error(reading.message);
  return reading.workflow;
}

export function readFiles(
  files: ReadonlyMap<string, Uint8Array>,
  platform: Platform,
  about: Source['about'] = {},
): WorkflowReading {
  const source: Source = {
    ref: '/flow',
    name: 'flow',
    entry: undefined,
    files: [...files].map(([name, bytes]) => ({ name, content: { bytes } })),
    about,
    diagnostics: [],
  };
  return parseWorkflow(source, platform, WITH_PLAIN);
}

/** A workflow in one YAML text. */
export function yamlWorkflowOf(file: string, text: string): Workflow {
  const reading = readYaml(file, text);
  if (!reading.ok) throw new Error(reading.message);
  return reading.workflow;
}

export function readYaml(file: string, text: string): WorkflowReading {
  const { states = [], about, diagnostics } = readYamlWorkflow(file, text, WITH_PLAIN);
  const files = states.map((state) => ({ name: state.name, content: { state } }));
  const source = { ref: `/${file}`, name: 'flow', entry: undefined, files, about, diagnostics };
  return parseWorkflow(source, 'unix', WITH_PLAIN);
}

const fileName = (name: string) => (/\.\w+$/.test(name) ? name : `${name}.md`);
