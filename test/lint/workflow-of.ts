import { claudeAgent } from '../../src/execute/claude/declaration.ts';
import type { Source } from '../../src/model/source.ts';
import type { Platform, Workflow } from '../../src/model/workflow.ts';
import { parseWorkflow, type WorkflowReading } from '../../src/parse/workflow.ts';

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
  return parseWorkflow(source, platform, claudeAgent);
}

const fileName = (name: string) => (/\.\w+$/.test(name) ? name : `${name}.md`);
