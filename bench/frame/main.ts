import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchCase, Unavailable } from './case.ts';
import { lastOfSameMachine } from './judge.ts';
import { machine, versions } from './machine.ts';
import { type Orchestrator, otherOrchestrator, raymond } from './orchestrator.ts';
import { type Line, type Result, readResults, writeResult } from './result.ts';
import { measureRounds, messageOf } from './rounds.ts';
import { conditions, textTable } from './table.ts';

/** Measures the chosen cases, and returns the exit code: 1 if a case could not be measured. */
export async function main(words: readonly string[], cases: readonly BenchCase[]): Promise<number> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      case: { type: 'string', multiple: true },
      compare: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.list) {
    for (const { name, title, floor } of cases) print(`${name.padEnd(26)} ${title}; ${floor}`);
    return 0;
  }
  const chosen = choose(cases, values.case);
  const before = { date: new Date().toISOString(), machine: machine(), versions: versions() };
  const others = values.compare.map(otherOrchestrator);
  const lines: Line[] = [];
  const folder = mkdtempSync(join(scratch(), 'raymond-bench-'));
  try {
    for (const each of chosen) {
      progress(`${each.name} ...`);
      lines.push(await measure(each, others, join(folder, each.name)));
    }
  } finally {
    // Only at the end: on some file systems, removed files make the next ones slower.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  const result: Result = { version: 1, ...before, lines };
  const last = lastOfSameMachine(result, readResults());
  const file = writeResult(result, values.case === undefined);
  if (values.json) print(JSON.stringify(result, undefined, 2));
  else print(`${conditions(result)}\n\n${textTable(result, last)}\n\nbench/results/${file}`);
  return lines.some(({ outcome }) => outcome.kind === 'failed') ? 1 : 0;
}

/** The named cases, in the order of the table; all, if none is named. */
export function choose(
  cases: readonly BenchCase[],
  names: readonly string[] | undefined,
): readonly BenchCase[] {
  if (names === undefined) return cases;
  const unknown = names.find((name) => !cases.some((each) => each.name === name));
  if (unknown !== undefined) {
    const known = cases.map(({ name }) => name).join(', ');
    throw new Error(`There is no case "${unknown}". Name one of: ${known}.`);
  }
  return cases.filter(({ name }) => names.includes(name));
}

/** A disk: `/tmp` is often in memory, where the sync of a journal costs nothing. */
function scratch(): string {
  const onDisk = '/var/tmp';
  return process.env.TMPDIR === undefined && existsSync(onDisk) ? onDisk : tmpdir();
}

/** A case that fails does not prevent the others. */
async function measure(
  each: BenchCase,
  others: readonly Orchestrator[],
  folder: string,
): Promise<Line> {
  const { name, title, floor, unit, limits, target, aim } = each;
  const line = { name, title, floor, unit, limits, target, ...(aim !== undefined && { aim }) };
  try {
    mkdirSync(folder);
    const measures = await each.prepare({ folder });
    try {
      const compared = each.comparable ? others : [];
      const rounds = await measureRounds(each, measures, raymond, compared);
      return { ...line, outcome: { kind: 'measured', ...rounds } };
    } finally {
      await measures.close?.();
    }
  } catch (error) {
    const kind = error instanceof Unavailable ? 'unavailable' : 'failed';
    return { ...line, outcome: { kind, why: messageOf(error) } };
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Progress is for a person who waits; the table alone goes to standard output. */
function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
