/** The workflows that a person can start here. */
import { bounded } from '../model/bounded-text.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import type { LoadWorkflow } from './graphs.ts';
import { notFound } from './problems.ts';
import type { ListedWorkflow, LoadedWorkflow, WorkflowList } from './shapes/workflows.ts';

export interface WorkflowParts {
  /** The paths of the workflows of the project, as they are started. */
  readonly workflows: () => Promise<readonly string[]>;
  /** Loads a workflow, or throws a UserError. */
  readonly workflow: LoadWorkflow;
}

export async function workflowList({ workflows, workflow }: WorkflowParts): Promise<WorkflowList> {
  const paths = await workflows();
  const listed: ListedWorkflow[] = [];
  // In turn: each opens files, and a process has a limited number.
  for (const path of paths.slice(0, MOST)) listed.push(await listedAs(path, workflow));
  return { workflows: listed, more: paths.length > MOST };
}

const MOST = 200;

async function listedAs(path: string, load: WorkflowParts['workflow']): Promise<ListedWorkflow> {
  try {
    return aboutOf(path, await load(path));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, remedy } = error;
    return { path, name: path, problem: { code, message, remedy } };
  }
}

function aboutOf(path: string, { name, about, states, diagnostics }: Workflow): LoadedWorkflow {
  const fault = diagnostics.find(({ severity }) => severity === 'error');
  const { title, description, input, defaultBudgetUsd } = about;
  return {
    path,
    name,
    title: shortOrNull(title),
    description: shortOrNull(description),
    states: states.size,
    input: {
      label: shortOrNull(input?.label),
      required: input?.required ?? false,
      default: input?.default ?? null,
    },
    budget_usd: defaultBudgetUsd ?? null,
    fault: fault ? `${fault.file}:${fault.line}: ${fault.message}` : null,
    problem: null,
  };
}

/** In characters. A person reads these texts in a list. */
const MOST_TEXT = 2_000;

function shortOrNull(text: string | undefined): string | null {
  if (text === undefined) return null;
  const short = bounded(text, MOST_TEXT);
  return short.omitted > 0 ? `${short.text}…` : short.text;
}

/** Throws a UserError if the project does not list it: a request must not read other files. */
export async function listedWorkflow(
  { workflows, workflow }: WorkflowParts,
  path: string,
): Promise<Workflow> {
  if ((await workflows()).includes(path)) return workflow(path);
  throw notFound('The project has no such workflow.', 'Name a path of /api/workflows.');
}
