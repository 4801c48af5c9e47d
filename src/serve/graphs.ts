/** The graphs of runs. Placing a graph costs far more than the rest, so the places are kept. */
import { tooLargeToDraw } from '../draw/layout.ts';
import { type PlacedGraph, placedGraph, runGraph } from '../draw/run-graph.ts';
import { graphOf } from '../graph/graph.ts';
import type { Run } from '../model/run.ts';
import type { Workflow } from '../model/workflow.ts';
import type { FollowedRun } from './followed-run.ts';
import { RequestError } from './problems.ts';
import type { GraphShape } from './shapes/graph.ts';

/** With a run, as the run has it. */
export type LoadWorkflow = (ref: string, run?: Run) => Promise<Workflow>;

export class Graphs {
  readonly #load: LoadWorkflow;
  readonly #placed = new Map<string, { readonly files: string; readonly graph: PlacedGraph }>();

  constructor(load: LoadWorkflow) {
    this.#load = load;
  }

  /** Steps that still run count up to a time. */
  async of(id: string, followed: FollowedRun, at: number): Promise<GraphShape> {
    const { run } = followed;
    const overlay = followed.overlay.overlay(at);
    const workflow = await this.#load(run.workflow, run);
    const own = graphOf(workflow);
    const problem = tooLargeToDraw(own);
    if (problem !== undefined)
      throw new RequestError(422, 'too-large', problem, 'Use raymond diagram for Mermaid text.');
    const files = JSON.stringify(workflow.files);
    const known = this.#placed.get(id);
    const graph = placedGraph(own, overlay, known?.files === files ? known.graph : undefined);
    this.#keep(id, files, graph);
    return { workflow: run.workflow, position: run.seq, ...runGraph(graph, overlay, run) };
  }

  #keep(id: string, files: string, graph: PlacedGraph): void {
    this.#placed.delete(id);
    this.#placed.set(id, { files, graph });
    const [oldest] = this.#placed.keys();
    if (this.#placed.size > MOST_GRAPHS && oldest !== undefined) this.#placed.delete(oldest);
  }
}

const MOST_GRAPHS = 20;
