import { runToChange } from '../../app/find-run.ts';
import {
  tryVariants as carryVariants,
  planTry,
  refuseNothing,
  sideBySide,
  type TryWish,
  type VariantNews,
  variantRows,
} from '../../app/try-variants.ts';
import { variantForm, variantsForm } from '../../look/variant-form.ts';
import { counted } from '../../model/counted.ts';
import { shellWord } from '../../model/shell-word.ts';
import type { VariantFigures, VariantRow } from '../../model/variant.ts';
import { conditionText, duration, oneLine, usd } from '../../observe/words.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { stepNamed } from '../look/step-name.ts';
import { type Column, table } from '../look/table.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { quietDoor } from '../terminal/terminal-door.ts';
import { amount, count } from './amounts.ts';

export interface TryOptions extends Omit<TryWish, 'at' | 'times' | 'steps' | 'budget'> {
  readonly at?: string;
  readonly times?: string;
  readonly steps?: string;
  readonly budget?: string;
  readonly totalBudget?: string;
  readonly maxParallel?: string;
  readonly detach?: boolean;
  readonly json?: boolean;
}

/** Tries variants of a run, or shows those that it has. */
export async function tryVariants(here: Here, name: string, options: TryOptions): Promise<number> {
  const around = await here();
  const id = await runToChange(around.store, name);
  const { at, json, detach } = options;
  if (at === undefined) {
    const rows = await variantRows(around, id);
    if (rows.length === 0) throw refuseNothing(id);
    return show(around, id, rows, json);
  }
  const door = quietDoor();
  const planned = await planTry(around, id, wishFrom(id, at, options), door);
  const { variants } = planned;
  const command = `raymond try ${shellWord(id)}`;
  if (!json && !detach)
    stderr.offer(
      `${counted(variants.length, 'variant')} of ${id}. Ctrl-C leaves them at work, and the same command continues.`,
    );
  let isLeft = false;
  const rows = await carryVariants(
    around,
    planned,
    {
      detach,
      maxParallel: count('--max-parallel', options.maxParallel),
      totalBudget: amount('--total-budget', options.totalBudget),
    },
    door,
    (news) => {
      if (news.kind === 'left') isLeft = true;
      if (!json || news.kind === 'left') for (const line of newsLines(news)) stderr.say(line);
    },
  );
  if (!detach) {
    const code = await show(around, id, rows, json);
    return isLeft ? 1 : code;
  }
  for (const row of rows) {
    if (json) stdout.json(variantForm(row));
    else stdout.say(row.run);
  }
  if (!json) stderr.offer(`To see what comes of them: ${command}`);
  return isLeft ? 1 : 0;
}

function wishFrom(id: string, at: string, options: TryOptions): TryWish {
  const { with: files, model, effort, agent, input, alone, trustRun, files: hasFiles } = options;
  return {
    at: stepNamed(at, id),
    ...{ with: files, model, effort, agent, input, alone, trustRun, files: hasFiles },
    times: count('--times', options.times),
    steps: count('--steps', options.steps),
    budget: amount('--budget', options.budget),
  };
}

function newsLines(news: VariantNews): readonly string[] {
  const { id } = news.variant;
  switch (news.kind) {
    case 'began':
      return [`${id} begins${changesText(news.variant)}`];
    case 'continues':
      return [`${id} continues`];
    case 'over': {
      const { condition, costUsd, isPriced } = news.row;
      return [`${id}: ${conditionText(condition, Date.now())}, ${usd(costUsd, isPriced)}`];
    }
    case 'left':
      return [`${id}: ${news.problem.message}`, `  ${news.problem.remedy}`];
  }
}

function changesText({ variation, number }: VariantNews['variant']): string {
  const changes = Object.entries(variation.changes).map(([name, value]) => `${name} ${value}`);
  const all = [...changes, ...(number > 1 ? [`repetition ${number}`] : [])];
  return all.length > 0 ? `: ${oneLine(all.join(', '), 100)}` : '';
}

const COLUMNS: readonly Column[] = [
  { head: 'RUN' },
  { head: 'CHANGES', least: 8, isOptional: true },
  { head: 'STATUS', least: 9 },
  { head: 'STEPS', isNumber: true },
  { head: 'COST', isNumber: true },
  { head: 'WORKED', isNumber: true },
  { head: 'FILES', isOptional: true },
  { head: 'PATH', least: 8, cut: 'middle' },
  { head: 'RESULT', least: 8, isOptional: true },
];

/** The run itself comes first. Exits with 1 if a variant has failed, and with 2 if one waits. */
async function show(
  around: Surroundings,
  id: string,
  rows: readonly VariantRow[],
  json: boolean | undefined,
): Promise<number> {
  const groups = await sideBySide(around, rows);
  if (json) stdout.json(variantsForm(id, groups), 2);
  else
    for (const group of groups) {
      const [first] = group.rows;
      if (groups.length > 1 && first)
        stdout.say(`From before ${first.origin.agent}:${first.origin.step}:`);
      const lines = [
        ...(group.origin ? [cells(group.origin, 'as it was')] : []),
        ...group.rows.map((row) => cells(row, originText(row))),
      ];
      for (const line of table(COLUMNS, lines, stdout.columns())) stdout.say(line);
      for (const { merge, run } of group.rows)
        if (merge !== undefined) stderr.offer(`To adopt the files of ${run}: ${merge}`);
    }
  const kinds = rows.map(({ condition }) => condition.kind);
  if (kinds.some((kind) => kind === 'failed' || kind === 'crashed')) return 1;
  return kinds.some((kind) => kind === 'waiting' || kind === 'paused') ? 2 : 0;
}

function cells(row: VariantFigures, changes: string): readonly string[] {
  const { run, condition, steps, costUsd, isPriced, workedMs, files, path, result, failure } = row;
  return [
    run,
    changes,
    condition.kind,
    String(steps),
    usd(costUsd, isPriced),
    duration(workedMs),
    files ? `${files.files}: +${files.added} -${files.removed}` : '',
    path.join(' > '),
    oneLine(result?.text ?? failure ?? '', 80),
  ];
}

function originText({ origin: { changes, number } }: VariantRow): string {
  const all = Object.entries(changes).map(([name, value]) => `${name} ${value}`);
  return oneLine([...all, ...(number > 1 ? [`#${number}`] : [])].join(', '), 60);
}
