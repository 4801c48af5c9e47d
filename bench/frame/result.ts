// The form of a result file. It names the kind of the machine and the versions, and nothing that
// identifies the machine: no host, no user, no path.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';

const seriesSchema = z.readonly(
  z.object({ least: z.number(), spread: z.number(), rounds: z.number() }),
);
const failureSchema = z.readonly(z.object({ failure: z.string() }));

const lineSchema = z.readonly(
  z.object({
    name: z.string(),
    title: z.string(),
    floor: z.string(),
    unit: z.enum(['ms', 'MB']),
    limits: z.enum(['ratio', 'value']),
    target: z.number(),
    aim: z.optional(z.number()),
    outcome: z.readonly(
      z.union([
        z.object({
          kind: z.literal('measured'),
          floor: seriesSchema,
          ours: seriesSchema,
          others: z.record(z.string(), z.union([seriesSchema, failureSchema])),
        }),
        z.object({ kind: z.enum(['failed', 'unavailable']), why: z.string() }),
      ]),
    ),
  }),
);

export const resultSchema = z.readonly(
  z.object({
    version: z.literal(1),
    date: z.string(),
    machine: z.readonly(
      z.object({
        cpu: z.string(),
        cores: z.number(),
        memoryGb: z.number(),
        kernel: z.string(),
        load: z.number(),
      }),
    ),
    versions: z.readonly(
      z.object({
        node: z.string(),
        raymond: z.string(),
        commit: z.string(),
        agents: z.readonly(z.array(z.string())),
      }),
    ),
    lines: z.readonly(z.array(lineSchema)),
  }),
);

export type Series = z.infer<typeof seriesSchema>;
export type Line = z.infer<typeof lineSchema>;
export type Result = z.infer<typeof resultSchema>;

export const resultsFolder = join(import.meta.dirname, '..', 'results');

/** A run of chosen cases replaces one file that git ignores. It is no base for comparison. */
export function writeResult(result: Result, isWhole: boolean, folder = resultsFolder): string {
  const name = isWhole ? `${result.date.replace(/[:.]/g, '-')}.json` : 'chosen-cases.json';
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `${JSON.stringify(result, undefined, 2)}\n`);
  return name;
}

/** The results of whole runs, the newest first. */
export function readResults(folder = resultsFolder): readonly Result[] {
  return names(folder)
    .map((name) => resultSchema.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))))
    .toSorted((a, b) => (a.date < b.date ? 1 : -1));
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d.*\.json$/.test(name));
  } catch {
    return [];
  }
}
