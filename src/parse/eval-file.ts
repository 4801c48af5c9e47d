/**
 * The file with which a user compares variants of a workflow: cases, variants, scorers, and how much to spend.
 * Another user may have written it, so every name, path and number in it is limited.
 */
import * as z from 'zod/mini';
import { clip } from './clip.ts';
import { commitSchema } from './test-file.ts';
import { variableProblem } from './variables.ts';
import type { NumberKind } from './yaml-numbers.ts';
import { fitsKind, USD_ABOVE_0 } from './yaml-numbers.ts';
import { mapOf, someText } from './yaml-values.ts';

/** In one eval. More would take weeks, and their journals would fill the disk. */
export const MOST_CELLS = 10_000;
const MOST_CASES = 1000;
const MOST_VARIANTS = 50;
const MOST_SCORERS = 20;
const MOST_REPETITIONS = 1000;

const numberWith = (kind: NumberKind) =>
  z
    .number(kind.expected)
    .check(z.refine((value: number) => fitsKind(value, kind), { error: kind.expected }));

const wholeUpTo = (most: number) =>
  numberWith({ expected: `a whole number from 1 to ${most}`, isWhole: true, least: 1, most });

const usdAbove0 = numberWith(USD_ABOVE_0);
const anyNumber = z.number('a number').check(z.refine(Number.isFinite, { error: 'a number' }));

const textLike = (expected: string, fits: (text: string) => boolean) =>
  someText.check(z.refine(fits, { error: expected }));

/** It appears in tables, in lists of runs and in the environment of scorers. */
const name = textLike(
  'a name of at most 60 characters on one line',
  (text) => /^\S(?:.*\S)?$/u.test(text) && [...text].length <= 60 && !/\p{Cc}/u.test(text),
);

/** Links are checked when the file is read. */
const isInside = (path: string) =>
  path !== '' &&
  !/[\0\\]/.test(path) &&
  !path.startsWith('/') &&
  !/^[A-Za-z]:/.test(path) &&
  path.split('/').every((part) => part !== '..');

const ownPath = textLike('a path in the folder of this file, without ".."', isInside);
const replacement = textLike(
  'FILE, STATE=FILE or a folder, in the folder of this file, without ".."',
  (text) => isInside(text.replace(/^[^=/]+=/, '')),
);
const commit = textLike('a branch, a tag or a commit', (text) =>
  /^[A-Za-z0-9_](?:[A-Za-z0-9_./~^-]{0,199})$/.test(text),
);

const texts = z.record(z.string(), someText, 'a map of names to texts');
const variables = texts.check((payload) => {
  const key = Object.keys(payload.value).find((one) => variableProblem(one) !== undefined);
  if (key === undefined) return;
  const message = `a map of variables without "${clip(key)}", which cannot be one`;
  payload.issues.push({ code: 'custom', message, path: [], input: payload.value });
});
const files = texts.check((payload) => {
  const key = Object.keys(payload.value).find((one) => !isInside(one) || one.endsWith('/'));
  if (key === undefined) return;
  const message = `a map of files inside the folder of the case, without "${clip(key)}"`;
  payload.issues.push({ code: 'custom', message, path: [], input: payload.value });
});

const caseSchema = mapOf({
  name,
  input: z.optional(someText),
  /** Variables of the run, as with --set. */
  set: z.optional(variables),
  /** The files with which a run of the case begins, in a folder of its own. */
  files: z.optional(files),
  /** Makes that folder a git repository. */
  git: z.optional(
    z.union(
      [z.literal(true, 'true'), z.array(commitSchema, 'a list of commits')],
      'true or a list of commits',
    ),
  ),
  /** In place of them: a commit of the project, in a worktree of its own. */
  commit: z.optional(commit),
  /** For scorers. */
  expected: z.optional(someText),
});

const variantShape = {
  name,
  /** Other texts of states. */
  with: z.optional(
    z.union(
      [replacement, z.array(replacement, 'a list of files').check(z.maxLength(200, 'fewer files'))],
      'a file or a list of files',
    ),
  ),
  agent: z.optional(name),
};

/** `choices` are those that an agent offers. Only its executor knows their meaning. */
function variantSchema(choices: readonly string[]) {
  const offered = choices.filter((choice) => !Object.hasOwn(variantShape, choice));
  const chosen = z.optional(name);
  const shape: Record<string, typeof chosen> = Object.fromEntries(
    offered.map((choice) => [choice, chosen]),
  );
  return z.pipe(
    mapOf({ ...shape, ...variantShape }),
    z.transform((read) => {
      const { name, with: files, agent } = z.object(variantShape).parse(read);
      const values: Readonly<Record<string, unknown>> = read;
      const made = offered.flatMap((choice) => {
        const value = values[choice];
        return typeof value === 'string' ? [[choice, value] as const] : [];
      });
      return { name, with: files, agent, choices: Object.fromEntries(made) };
    }),
  );
}

const scorerSchema = mapOf({
  name,
  /** The state with which a run begins that scores another one: a script or a prompt. */
  by: z.optional(ownPath),
  /** Compares the result with `expected`. */
  result: z.optional(z.enum(['equals', 'contains'], 'equals or contains')),
  /** The score of a run that has not completed. */
  failed: z.optional(anyNumber),
});

const gateSchema = mapOf({
  /** The variant that must pass; the workflow as it is if absent. */
  variant: z.optional(name),
  /** The least mean score, by scorer. */
  least: z.optional(z.record(z.string(), anyNumber, 'a map of scorers to numbers')),
  /** What `raymond eval --json` printed earlier. */
  baseline: z.optional(ownPath),
  /** A mean score may be lower than that of the baseline by this much. */
  margin: z.optional(numberWith({ expected: 'a number from 0 up', least: 0 })),
});

const listOf = <T extends z.ZodMiniType>(schema: T, what: string, most: number) =>
  z
    .array(schema, `a list of ${what}`)
    .check(z.maxLength(most, `a list of at most ${most} ${what}`));

/** `choices` are the names of those that a variant can make for its agents. */
export function evalFileSchema(choices: readonly string[]) {
  return mapOf({
    cases: listOf(caseSchema, 'cases', MOST_CASES).check(z.minLength(1, 'a list with a case')),
    variants: z.optional(listOf(variantSchema(choices), 'variants', MOST_VARIANTS)),
    scorers: z.optional(listOf(scorerSchema, 'scorers', MOST_SCORERS)),
    /** Of each case under each variant. */
    repetitions: z.optional(wholeUpTo(MOST_REPETITIONS)),
    /** For all runs together, scores included. */
    budget: z.optional(usdAbove0),
    /** For each run. */
    budget_each: z.optional(usdAbove0),
    /** How many runs work at a time. */
    max_parallel: z.optional(wholeUpTo(64)),
    gate: z.optional(gateSchema),
  }).check((payload) => {
    for (const [path, message] of problemsIn(payload.value))
      payload.issues.push({ code: 'custom', message, path: [...path], input: payload.value });
  });
}

export type EvalFile = z.output<ReturnType<typeof evalFileSchema>>;
export type EvalCase = z.output<typeof caseSchema>;
export type EvalVariant = z.output<ReturnType<typeof variantSchema>>;
export type EvalScorer = z.output<typeof scorerSchema>;

/** What the workflow as it is is called beside its variants. */
export const AS_IT_IS = 'as it is';

type Problem = readonly [path: readonly (string | number)[], expected: string];

/** What no single key can say. */
function problemsIn({ cases, variants = [], scorers = [], repetitions = 1, gate }: EvalFile) {
  const problems: Problem[] = [
    ...repeated('cases', cases, 'a name that no other case has'),
    ...repeated('variants', variants, 'a name that no other variant has', [AS_IT_IS, '']),
    ...repeated('scorers', scorers, 'a name that no other scorer has', MEASURES),
  ];
  cases.forEach((one, index) => {
    if (one.commit !== undefined && (one.files ?? one.git) !== undefined)
      problems.push([['cases', index], 'a map with either commit, or files and git']);
  });
  scorers.forEach(({ by, result }, index) => {
    if ((by === undefined) === (result === undefined))
      problems.push([['scorers', index], 'a map with either by or result']);
    if (result === undefined) return;
    cases.forEach((one, place) => {
      if (one.expected === undefined)
        problems.push([
          ['cases', place, 'expected'],
          'a text: a scorer compares the result with it',
        ]);
    });
  });
  const names = scorers.map((scorer) => scorer.name);
  if (Object.keys(gate?.least ?? {}).some((key) => !names.includes(key)))
    problems.push([['gate', 'least'], `a map with numbers for ${names.join(', ')}`]);
  if (gate?.variant !== undefined && !variants.some((one) => one.name === gate.variant))
    problems.push([['gate', 'variant'], 'the name of a variant']);
  if (gate && gate.least === undefined && gate.baseline === undefined)
    problems.push([['gate'], 'a map with "least" or "baseline"']);
  if (gate && scorers.length === 0)
    problems.push([['scorers'], 'a list of scorers, because there is a gate']);
  const cells = cases.length * (variants.length + 1) * repetitions;
  if (cells > MOST_CELLS)
    problems.push([
      ['repetitions'],
      `a number with which at most ${MOST_CELLS} runs follow, not ${cells}`,
    ]);
  return problems;
}

/** They are measured in every eval. */
export const MEASURES = ['cost', 'time'] as const;

function* repeated(
  key: string,
  all: readonly { readonly name: string }[],
  expected: string,
  taken: readonly string[] = [],
): Generator<Problem> {
  const seen = new Set(taken);
  for (const [index, one] of all.entries()) {
    if (seen.has(one.name)) yield [[key, index, 'name'], expected];
    seen.add(one.name);
  }
}

/** All texts of states that a variant replaces. */
export const replacementsOf = ({ with: files }: EvalVariant): readonly string[] =>
  files === undefined ? [] : [files].flat();
