import { toMermaid } from '../../draw/mermaid.ts';
import { type Graph, graphOf } from '../../graph/graph.ts';
import { fittedTo, type Overlay, overlayOf, withTaken } from '../../graph/overlay.ts';
import type { RunEvent } from '../../model/event.ts';
import { UserError } from '../../model/user-error.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { openRun, runToSee } from '../runs.ts';
import type { Here } from '../surroundings.ts';
import { stdout } from '../terminal.ts';
import { looseLibrary } from '../wire.ts';

export interface DiagramOptions {
  readonly html?: boolean;
  readonly svg?: boolean;
  readonly run?: string;
}

/** Draws a workflow, and with `--run` what a run did in it. */
export async function diagram(
  here: Here,
  path: string | undefined,
  options: DiagramOptions,
): Promise<number> {
  if (options.html && options.svg)
    throw wrongUsage('Both --html and --svg are given.', 'Remove one of them.');
  const found = options.run === undefined ? undefined : await runNamed(here, options.run);
  const wanted = path ?? found?.workflow;
  if (wanted === undefined)
    throw wrongUsage('No workflow is named.', 'Name a workflow, or a run with --run.');
  const workflow = await looseLibrary().load(wanted);
  const own = graphOf(workflow);
  const overlay = found && fittedTo(own, found.overlay);
  const graph = overlay ? withTaken(own, overlay) : own;
  if (options.html || options.svg) await refuseTooLarge(graph);
  if (options.html) {
    const { toHtml } = await import('../../draw/html.ts');
    await stdout.document(toHtml(workflow, graph, overlay));
  } else if (options.svg) {
    const { toSvg } = await import('../../draw/svg.ts');
    await stdout.document(toSvg(graph, overlay));
  } else {
    await stdout.document(toMermaid(graph));
  }
  return 0;
}

async function refuseTooLarge(graph: Graph): Promise<void> {
  const { tooLargeToDraw } = await import('../../draw/layout.ts');
  const problem = tooLargeToDraw(graph);
  if (problem === undefined) return;
  throw new UserError('too-large', problem, 'Omit --html and --svg to get Mermaid text.');
}

/** The workflow of a run, and what the run did in it. */
async function runNamed(
  here: Here,
  name: string,
): Promise<{ readonly workflow: string; readonly overlay: Overlay }> {
  const { store } = await here();
  const events: RunEvent[] = [];
  const { run } = await openRun(store, await runToSee(store, name), (event) => events.push(event));
  return { workflow: run.workflow, overlay: overlayOf(events) };
}
