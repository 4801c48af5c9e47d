/** The graph of a run's workflow, placed on a plane, with what the run did in it. */
import * as z from 'zod/mini';
import { count, listOf, orNull, text, usd } from './common.ts';

const point = z.object({ x: z.number(), y: z.number() });

export const graphNode = z.object({
  id: text,
  kind: z.enum(['prompt', 'script', 'broken', 'workflow', 'missing', 'unknown', 'reference']),
  shows: text.check(z.describe('The id of the node that a reference means; else its own id.')),
  label: text,
  detail: text,
  state: orNull(text).check(z.describe('The name of the state, as events have it.')),
  result: orNull(z.object({ label: text, count })).check(
    z.describe('The mark of a node that can end with a result.'),
  ),
  x: z.number().check(z.describe('The centre.')),
  y: z.number(),
  width: z.number(),
  height: z.number(),
  visits: count,
  worked_ms: count,
  cost_usd: usd,
});

const LINE_ROLES = [
  'go',
  'call',
  'return',
  'worker',
  'next',
  'join',
  'failed',
  'answer',
  'timeout',
  'judge',
] as const;

export const graphEdge = z.object({
  from: text,
  to: text,
  role: z.enum(LINE_ROLES),
  label: text,
  points: listOf(point).check(
    z.describe('The corners of the line; a line from a node to itself is a curve.'),
  ),
  label_at: point,
  count: count.check(z.describe('How often the run took it.')),
});

export const graphShape = z.object({
  workflow: text,
  name: text,
  entry: text,
  position: count,
  width: z.number(),
  height: z.number(),
  nodes: listOf(graphNode),
  edges: listOf(graphEdge),
});

export type GraphShape = z.infer<typeof graphShape>;
export type GraphNodeShape = z.infer<typeof graphNode>;
export type GraphEdgeShape = z.infer<typeof graphEdge>;
