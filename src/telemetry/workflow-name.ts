import type { Run } from '../model/run.ts';

/** The path of a workflow says more about the machine than about the run. */
export const workflowName = ({ workflow }: Pick<Run, 'workflow'>): string =>
  workflow.split(/[/\\]/).filter(Boolean).at(-1) ?? workflow;
