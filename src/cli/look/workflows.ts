import { workflowList } from '../../serve/workflows.ts';
import { projectWorkflows } from '../../world/project-workflows.ts';
import type { Here } from '../../world/surroundings.ts';
import { configuredLibrary } from '../../world/wire.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { type Column, table } from './table.ts';

/** Lists the workflows in and below the working directory, by the path that starts each. */
export async function showWorkflows(
  here: Here,
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { cwd } = await here();
  const library = await configuredLibrary(here);
  const { workflows, more } = await workflowList({
    workflows: () => projectWorkflows(cwd),
    workflow: (path) => library.load(path),
  });
  if (json) for (const one of workflows) stdout.json(one);
  else if (workflows.length === 0)
    stderr.say('There is no workflow here. To create one: raymond init');
  else stdout.say(...table(COLUMNS, workflows.map(row), stdout.columns() ?? USUAL_COLUMNS));
  if (more) stderr.say('Further workflows are not shown.');
  return 0;
}

const USUAL_COLUMNS = 80;

const COLUMNS: readonly Column[] = [
  { head: 'WORKFLOW' },
  { head: 'INPUT', least: 8, isOptional: true },
  { head: 'DESCRIPTION', least: 12, isOptional: true },
];

type Listed = Awaited<ReturnType<typeof workflowList>>['workflows'][number];

function row(one: Listed): readonly string[] {
  if (one.problem !== null) return [one.path, '', one.problem.message];
  const { label, required, default: usual } = one.input;
  const input = label ?? (required ? 'required' : usual === null ? '' : `default ${usual}`);
  return [one.path, input, one.fault ?? one.description ?? one.title ?? ''];
}
