/** The graph of a run's workflow, placed on a plane, with what the run did in it. */
import * as z from 'zod/mini';
import { runGraphSchema } from '../../draw/run-graph.ts';
import { count, text } from '../../look/common.ts';

export const graphShape = z.object({ workflow: text, position: count, ...runGraphSchema.shape });

export type GraphShape = z.infer<typeof graphShape>;
