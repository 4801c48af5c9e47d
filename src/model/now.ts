/**
 * The activity of the agents of a run, as the process that is working on the run saw it last. It is not
 * part of the journal: nothing depends on it, and it is lost with that process.
 */
import * as z from 'zod/mini';
import type { Agent } from './run.ts';

const text = z.string();
const count = z.int().check(z.nonnegative());
/** In ms since the epoch, within the range of a date. */
const time = z.int().check(z.nonnegative(), z.lte(8.64e15));
const saidSchema = z.object({ at: time, text });

const doingSchema = z.object({
  agent: text,
  step: count,
  /** Its last tool call. */
  tool: z.optional(z.object({ at: time, name: text, summary: text })),
  /** The beginning of its last message or print. */
  words: z.optional(saidSchema),
  /** The last note of its executor. */
  note: z.optional(saidSchema),
  /** The cost of the step so far, as an estimate. */
  spentUsd: z.optional(z.number().check(z.nonnegative())),
});

export const nowSchema = z.object({
  at: time,
  /** Agents with a running step, the most recently active ones first. */
  agents: z.readonly(z.array(doingSchema)),
  /** The number of further agents. The size of a publication is limited. */
  omitted: count,
});

export type Now = z.infer<typeof nowSchema>;
/** The activity of one agent. */
export type Doing = Now['agents'][number];

/** By the name of the agent. */
export function doingByAgent(now: Now | undefined): ReadonlyMap<string, Doing> {
  return new Map(now?.agents.map((doing) => [doing.agent, doing]));
}

/**
 * The journal and a publication are read at different times, so the publication may belong to another
 * step.
 */
export function isDoing({ status }: Agent, doing: Doing | undefined): doing is Doing {
  return status.kind === 'running' && status.step === doing?.step;
}
