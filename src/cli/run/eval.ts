import { addCase } from '../../app/add-case.ts';
import { baselineFile, costOf, evalForm, kindOf, readBaseline } from '../../app/eval-report.ts';
import {
  type CellRow,
  type EvalNews,
  type Evaluated,
  evaluate as evaluateAll,
  summaries,
} from '../../app/evaluate.ts';
import { runToSee } from '../../app/find-run.ts';
import type { PlannedEval } from '../../app/plan-eval.ts';
import { casesOf } from '../../evidence/compare.ts';
import { evidenceText, valueText } from '../../evidence/evidence-text.ts';
import { counted } from '../../model/counted.ts';
import { shellWord } from '../../model/shell-word.ts';
import { cellText, conditionText, oneLine, usd } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { AS_IT_IS } from '../../parse/eval-file.ts';
import { type JunitCase, junitXml } from '../../workflow-tests/report.ts';
import type { Here } from '../../world/surroundings.ts';
import { refuseLinkedPlace } from '../author/linked-place.ts';
import { writeReport } from '../author/write-report.ts';
import { type Column, table } from '../look/table.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { quietDoor } from '../terminal/terminal-door.ts';
import { amount, count } from './amounts.ts';

export interface EvalOptions {
  readonly times?: string;
  readonly budget?: string;
  readonly maxParallel?: string;
  readonly saveBaseline?: boolean;
  readonly addCase?: string;
  readonly name?: string;
  readonly junit?: string;
  readonly json?: boolean;
}

/** Compares variants of a workflow, or adds a case from a run. */
export async function evaluate(here: Here, path: string, options: EvalOptions): Promise<number> {
  const around = await here();
  const { json, junit } = options;
  if (options.name !== undefined && options.addCase === undefined)
    throw wrongUsage('--name names the case of --add-case.', 'Add --add-case, or omit --name.');
  if (options.addCase !== undefined) {
    const id = await runToSee(around.store, options.addCase);
    const added = await addCase(around, path, id, options.name, refuseLinkedPlace);
    stdout.say(`Added the case ${added.name} to ${added.file}`);
    for (const text of added.notes) stderr.say(text);
    return 0;
  }
  const command = `raymond eval ${shellWord(path)}`;
  const save = `${command} --save-baseline`;
  const asked = {
    times: count('--times', options.times),
    budget: amount('--budget', options.budget),
    maxParallel: count('--max-parallel', options.maxParallel),
  };
  let isLeft = false;
  const evaluated = await evaluateAll(
    around,
    path,
    {
      ...asked,
      baseline: async (plan) =>
        options.saveBaseline
          ? refuseNowhere(plan)
          : readBaseline(plan, `To make it from the workflow as it is now: ${save}`),
      planned: (plan, missing) => {
        if (!json) stderr.offer(planText(plan, missing));
      },
    },
    quietDoor({ json }),
    (news) => {
      if (news.kind === 'left') isLeft = true;
      const isScore = 'cell' in news && news.cell.scores !== undefined;
      if ((!json && !isScore) || news.kind === 'left')
        for (const line of newsLines(news)) stderr.say(line);
    },
  );
  const form = evalForm(evaluated);
  const saved = options.saveBaseline ? baselineFile(evaluated.plan) : undefined;
  if (json) stdout.json(form, 2);
  else show(evaluated);
  if (junit !== undefined)
    await writeReport(junit, junitXml(evaluated.plan.workflow.name, junitCases(evaluated)));
  if (saved !== undefined && !isLeft) {
    await writeReport(saved, `${JSON.stringify(form, null, 2)}\n`);
    if (!json) stderr.say(`Saved the baseline ${saved}`);
  }
  const isFailed = saved === undefined && evaluated.gate.some(({ passed }) => !passed);
  if (isLeft || isFailed) return 1;
  return evaluated.runs.length < evaluated.plan.cells.length ? 2 : 0;
}

/** There must be a place for it before anything is paid for. */
function refuseNowhere(plan: PlannedEval): undefined {
  if (baselineFile(plan) !== undefined) return undefined;
  throw wrongUsage(
    '--save-baseline has no file.',
    `Add gate: { baseline: baseline.json } to ${plan.file}.`,
  );
}

function planText({ cells, read, variants, repetitions, ...plan }: PlannedEval, missing: number) {
  const { totalBudget, eachBudget } = plan;
  const parts = [
    counted(read.cases.length, 'case'),
    counted(variants.length, 'variant'),
    counted(repetitions, 'repetition'),
  ];
  const money =
    totalBudget === 0
      ? 'no budget'
      : `budget ${usd(totalBudget)}, at most ${usd(eachBudget)} for each run`;
  return `${counted(cells.length, 'run')} (${parts.join(', ')}), ${missing} to begin, ${money}. Ctrl-C leaves them at work, and the same command continues.`;
}

function newsLines(news: EvalNews): readonly string[] {
  switch (news.kind) {
    case 'began':
      return [`${news.id} begins: ${oneLine(cellText(news.cell), 100)}`];
    case 'continues':
      return [`${news.id} continues`];
    case 'over': {
      const { id, condition, costUsd, isPriced, scores } = news.row;
      const said = [...scores].map(([name, { score }]) => `${name} ${score ?? 'none'}`);
      const all = [conditionText(condition, Date.now()), usd(costUsd, isPriced), ...said];
      return [`${id}: ${oneLine(all.join(', '), 160)}`];
    }
    case 'left':
      return [`${news.id}: ${news.problem.message}`, `  ${news.problem.remedy}`];
  }
}

const COLUMNS: readonly Column[] = [
  { head: 'VARIANT', least: 10 },
  { head: 'MEASURE', least: 8 },
  { head: 'RUNS', isNumber: true },
  { head: 'MEAN', isNumber: true },
  { head: 'MEDIAN', isNumber: true },
  { head: 'HALF OF THEM', least: 8 },
  { head: 'AGAINST AS IT IS', isOptional: true },
];

function show(evaluated: Evaluated): void {
  const { rows, plan, runs, gate } = evaluated;
  const all = summaries(evaluated);
  const lines = all.flatMap(({ variant, measures }) =>
    [...measures].flatMap(([name, { summary, evidence }]) => {
      if (!summary) return [];
      const kind = kindOf(name);
      const value = (one: number) => valueText(one, kind);
      const between = `${value(summary.low)} to ${value(summary.high)}`;
      const figures = [String(summary.runs), value(summary.mean), value(summary.median), between];
      const against = evidence ? evidenceText(evidence, kind) : '';
      return [[variant === '' ? AS_IT_IS : variant, name, ...figures, against]];
    }),
  );
  for (const line of table(COLUMNS, lines, stdout.columns())) stdout.say(line);
  for (const row of rows) for (const line of troubleLines(row)) stdout.say(line);
  const priced = rows.some(({ isPriced }) => isPriced);
  const counts = all.map(({ variant, runs: begun, completed }) => {
    const name = variant === '' ? AS_IT_IS : variant;
    return `${name} ${completed} of ${begun}`;
  });
  stdout.say(`Completed: ${counts.join(', ')}. Cost with all scores: ${usd(costOf(rows), priced)}`);
  const cases = casesOf(runs);
  if (plan.variants.length > 0 && cases > 0 && cases < FEW_CASES)
    stdout.say(
      `All pairs come from ${counted(cases, 'case')}, so they say nothing about other inputs.`,
    );
  for (const { what, passed, why } of gate)
    stdout.say(`${passed ? 'passed' : 'FAILED'}  ${what}: ${why}`);
}

/** With fewer, even a difference in every case could be chance. */
const FEW_CASES = 6;

function troubleLines({ id, cell, condition, failure, scores }: CellRow): readonly string[] {
  const lost = [...scores].flatMap(([name, { score, note }]) =>
    score === undefined ? [`no score ${name}: ${note}`] : [],
  );
  const what =
    condition.kind === 'completed' ? [] : [condition.kind, ...(failure ? [failure] : [])];
  const all = [...what, ...lost];
  return all.length > 0 ? [oneLine(`${id} (${cellText(cell)}): ${all.join(', ')}`, 200)] : [];
}

function junitCases({ rows, gate, plan }: Evaluated): readonly JunitCase[] {
  return [
    ...rows.map((row) => ({
      ...{ name: cellText(row.cell), file: plan.file, durationMs: row.workedMs },
      problems: troubleLines(row).map((got) => ({ what: 'run', expected: 'scores', got })),
    })),
    ...gate.map(({ what, passed, why }) => ({
      ...{ name: `gate: ${what}`, file: plan.file, durationMs: 0 },
      problems: passed ? [] : [{ what: 'gate', expected: what, got: why }],
    })),
  ];
}
