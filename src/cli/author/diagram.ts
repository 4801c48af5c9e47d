import { runToSee } from '../../app/find-run.ts';
import { pastRuns } from '../../app/past-runs.ts';
import { HEATS, type Heat, type Reading, THIS_RUN } from '../../draw/heat.ts';
import { toMermaid } from '../../draw/mermaid.ts';
import { meanOverlay, NEEDED_RUNS } from '../../forecast/forecast.ts';
import { type Graph, graphOf } from '../../graph/graph.ts';
import { fittedTo, type Overlay, overlayOf, withTaken } from '../../graph/overlay.ts';
import { openRun } from '../../host/open-run.ts';
import type { RunEvent } from '../../model/event.ts';
import { UserError } from '../../model/user-error.ts';
import type { Workflow } from '../../model/workflow.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { Here } from '../../world/surroundings.ts';
import { configuredLibrary } from '../../world/wire.ts';
import { stdout } from '../terminal/terminal.ts';

export interface DiagramOptions {
  readonly html?: boolean;
  readonly svg?: boolean;
  readonly run?: string;
  readonly heat?: string;
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
  const heat = heatNamed(options.heat);
  const workflow = await (await configuredLibrary(here)).load(wanted);
  const own = graphOf(workflow);
  const past = heat && !found ? await usualRun(here, workflow) : undefined;
  const traced = found?.overlay ?? past?.overlay;
  const overlay = traced && fittedTo(own, traced);
  const reading: Reading = { heat, of: past?.of ?? THIS_RUN.of };
  const graph = overlay ? withTaken(own, overlay) : own;
  if (options.html || options.svg) await refuseTooLarge(graph);
  if (options.html) {
    const { toHtml } = await import('../../draw/html.ts');
    await stdout.document(toHtml(workflow, graph, overlay, reading));
  } else if (options.svg) {
    const { toSvg } = await import('../../draw/svg.ts');
    await stdout.document(toSvg(graph, overlay, reading));
  } else {
    await stdout.document(toMermaid(graph, overlay, heat));
  }
  return 0;
}

function heatNamed(name: string | undefined): Heat | undefined {
  const heat = HEATS.find((one) => one === name);
  if (name !== undefined && heat === undefined)
    throw wrongUsage(`There is no heat ${name}.`, `Give one of these: ${HEATS.join(', ')}.`);
  return heat;
}

/** The mean of the finished runs of a workflow. Throws a UserError if there are too few. */
async function usualRun(
  here: Here,
  workflow: Workflow,
): Promise<{ readonly overlay: Overlay; readonly of: string }> {
  const { store } = await here();
  const pasts = await pastRuns(store, workflow.ref, workflow.files);
  if (pasts.length < NEEDED_RUNS)
    throw new UserError(
      'too-few-runs',
      `The heat of a workflow needs ${NEEDED_RUNS} completed runs of it with its current files. It has ${pasts.length}.`,
      'Run it, or name one run with --run.',
    );
  return { overlay: meanOverlay(pasts), of: `the mean of ${pasts.length} runs` };
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
