import { figure, judge } from './judge.ts';
import type { Line, Result, Series } from './result.ts';

const HEAD = ['case', 'floor', 'ours', 'figure', 'reach', 'last', ''];

/** The table for a terminal. */
export function textTable(result: Result, last: Result | undefined): string {
  const rows = result.lines.map((line) => [
    line.name,
    ...(line.outcome.kind === 'measured'
      ? [quantity(line.outcome.floor, line), quantity(line.outcome.ours, line)]
      : ['', '']),
    ...judged(line, last),
  ]);
  const all = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...lines, ...result.lines.flatMap(othersOf)].join('\n');
}

/** The table for docs/reference/performance.md, with a column for each other orchestrator. */
export function markdownTable(result: Result): string {
  const names = [...new Set(result.lines.flatMap(({ outcome }) => othersIn(outcome)))];
  const head = ['case', 'floor', 'ours / floor', 'figure', 'reach', ...names];
  const rows = result.lines.map((line) => {
    const { title, floor, outcome } = line;
    if (outcome.kind !== 'measured')
      return [title, floor, '', outcome.kind, reach(line), ...names.map(() => '')];
    const value = shown(figure(outcome.ours, outcome.floor, line.limits), line);
    const mark = judge(line, undefined)?.reached === 'missed' ? ' (missed)' : '';
    const both = `${quantity(outcome.ours, line)} / ${quantity(outcome.floor, line)}`;
    const theirs = names.map((name) => otherFigure(line, outcome.others[name], outcome.floor));
    return [title, floor, both, `**${value}**${mark}`, reach(line), ...theirs];
  });
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}

/** The newest result as text for docs/reference/performance.md. */
export function performanceText(newest: Result | undefined): string {
  if (newest === undefined) return 'No result is committed yet.\n';
  return `${conditions(newest)}.\n\n${markdownTable(newest)}`;
}

/** The machine and the versions of a result, in one sentence. */
export function conditions({ machine, versions, date }: Result): string {
  const { cpu, cores, memoryGb, kernel } = machine;
  const agents = versions.agents.join(' and ') || 'none';
  return (
    `${date.slice(0, 10)}, ${cores} × ${cpu}, ${memoryGb} GB, Linux ${kernel}, ` +
    `Node ${versions.node}, Raymond ${versions.raymond} (${versions.commit}), Claude Code ${agents}`
  );
}

function judged(line: Line, last: Result | undefined): readonly string[] {
  const { outcome } = line;
  if (outcome.kind !== 'measured') return ['', reach(line), '', `${outcome.kind}: ${outcome.why}`];
  const judgement = judge(line, last);
  if (judgement === undefined) return [];
  const { before, reached, regressed } = judgement;
  const verdict = regressed ? `REGRESSED, ${reached}` : reached;
  return [
    shown(judgement.figure, line),
    reach(line),
    before === undefined ? '-' : shown(before, line),
    verdict,
  ];
}

function othersIn(outcome: Line['outcome']): readonly string[] {
  return outcome.kind === 'measured' ? Object.keys(outcome.others) : [];
}

function othersOf(line: Line): readonly string[] {
  if (line.outcome.kind !== 'measured') return [];
  const { floor, others } = line.outcome;
  return Object.entries(others).map(
    ([name, series]) => `${line.name}, ${name}: ${otherFigure(line, series, floor)}`,
  );
}

type Other = Extract<Line['outcome'], { kind: 'measured' }>['others'][string];

function otherFigure(line: Line, other: Other | undefined, floor: Series): string {
  if (other === undefined) return '';
  if ('failure' in other) return other.failure;
  return `${shown(figure(other, floor, line.limits), line)} (${quantity(other, line)})`;
}

function reach({ target, aim, limits, unit }: Line): string {
  const unitShown = limits === 'value' ? ` ${unit}` : '';
  return `≤ ${target}${unitShown}${aim === undefined ? '' : `, aim ${aim}`}`;
}

function shown(value: number, { limits, unit }: Line): string {
  return limits === 'value' ? `${number(value)} ${unit}` : `${number(value)} ×`;
}

function quantity({ least, spread }: Series, { unit }: Line): string {
  return `${number(least)} ${unit} +${Math.round(spread * 100)}%`;
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
}
