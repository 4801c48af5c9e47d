/** Test reports for people, programs and build servers. */
import { basename } from 'node:path';
import { counted } from '../model/counted.ts';
import { escapeText } from '../model/escape.ts';
import type { Coverage } from './coverage.ts';
import type { Problem } from './expectations.ts';
import type { TestReport } from './run-test.ts';

export function reportLines({ name, file, problems, durationMs }: TestReport): readonly string[] {
  const took = `(${durationMs} ms)`;
  if (problems.length === 0) return [`ok    ${name} ${took}`];
  return [`FAIL  ${name} ${took}  ${basename(file)}`, ...problems.flatMap(problemLines)];
}

export function reportJson({ name, file, problems, durationMs }: TestReport) {
  return { name, file, passed: problems.length === 0, problems, duration_ms: durationMs };
}

export function coverageLines(coverage: Coverage): readonly string[] {
  const { states, neverExecuted, transitions, neverTaken } = coverage;
  return [
    `Coverage: ${states - neverExecuted.length} of ${counted(states, 'state')}, ${transitions - neverTaken.length} of ${counted(transitions, 'transition')}`,
    ...neverExecuted.map((state) => `  never executed: ${state}`),
    ...neverTaken.map((transition) => `  never taken: ${transition}`),
  ];
}

/** A test, or a run that was played again. */
export interface JunitCase extends Pick<TestReport, 'name' | 'file' | 'problems' | 'durationMs'> {
  /** Why it was not played. */
  readonly skipped?: string;
}

export function junitXml(suite: string, reports: readonly JunitCase[]): string {
  const failed = reports.filter(({ problems }) => problems.length > 0).length;
  const skipped = reports.filter((report) => report.skipped !== undefined).length;
  const ms = reports.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const notPlayed = skipped > 0 ? ` skipped="${skipped}"` : '';
  const attributes = `name="${escapeText(suite)}" tests="${reports.length}" failures="${failed}"${notPlayed} time="${ms / 1000}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites>`,
    `  <testsuite ${attributes}>`,
    ...reports.map((report) => testCase(suite, report)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(suite: string, { name, file, problems, durationMs, skipped }: JunitCase): string {
  const head = `    <testcase classname="${escapeText(suite)}" name="${escapeText(name)}" file="${escapeText(file)}" time="${durationMs / 1000}"`;
  if (skipped !== undefined)
    return `${head}><skipped message="${escapeText(skipped)}"/></testcase>`;
  if (problems.length === 0) return `${head}/>`;
  const failures = problems.map(
    (problem) =>
      `      <failure message="${escapeText(problem.what)}">${escapeText(problemLines(problem).join('\n'))}</failure>`,
  );
  return [`${head}>`, ...failures, '    </testcase>'].join('\n');
}

/** Each element is one line of the report, even if its text contains line breaks. */
function problemLines({ what, expected, got, difference, detail }: Problem): readonly string[] {
  const sides = difference?.split('\n') ?? [`expected  ${expected}`, `got       ${got}`];
  const lines = [...sides, ...(detail === undefined ? [] : [detail])];
  return [`      ${what}`, ...lines.map((line) => `        ${line}`)];
}
