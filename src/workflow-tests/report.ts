/** Test reports for people, for programs and for build servers. */
import { basename } from 'node:path';
import type { Coverage } from './coverage.ts';
import type { Problem } from './expectations.ts';
import type { TestReport } from './run-test.ts';

export function reportText({ name, file, problems, durationMs }: TestReport): string {
  const took = `(${durationMs} ms)`;
  if (problems.length === 0) return `ok    ${name} ${took}\n`;
  return `FAIL  ${name} ${took}  ${basename(file)}\n${problems.map(problemText).join('')}`;
}

export function reportJson({ name, file, problems, durationMs }: TestReport): string {
  const passed = problems.length === 0;
  return `${JSON.stringify({ name, file, passed, problems, duration_ms: durationMs })}\n`;
}

export function coverageText(coverage: Coverage): string {
  const { states, neverExecuted, transitions, neverTaken } = coverage;
  const lines = [
    `Coverage: ${states - neverExecuted.length} of ${states} states, ${transitions - neverTaken.length} of ${transitions} transitions`,
    ...neverExecuted.map((state) => `  never executed: ${state}`),
    ...neverTaken.map((transition) => `  never taken: ${transition}`),
  ];
  return `${lines.join('\n')}\n`;
}

export function junitXml(suite: string, reports: readonly TestReport[]): string {
  const failed = reports.filter(({ problems }) => problems.length > 0).length;
  const ms = reports.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const attributes = `name="${xmlText(suite)}" tests="${reports.length}" failures="${failed}" time="${ms / 1000}"`;
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

function testCase(suite: string, { name, file, problems, durationMs }: TestReport): string {
  const head = `    <testcase classname="${xmlText(suite)}" name="${xmlText(name)}" file="${xmlText(file)}" time="${durationMs / 1000}"`;
  if (problems.length === 0) return `${head}/>`;
  const failures = problems.map(
    (problem) =>
      `      <failure message="${xmlText(problem.what)}">${xmlText(problemText(problem))}</failure>`,
  );
  return [`${head}>`, ...failures, '    </testcase>'].join('\n');
}

function problemText({ what, expected, got, difference, detail = '' }: Problem): string {
  const sides = difference ?? `expected  ${expected}\ngot       ${got}`;
  const lines = [sides, detail].flatMap((text) => (text === '' ? [] : text.split('\n')));
  return [`      ${what}`, ...lines.map((line) => `        ${line}`), ''].join('\n');
}

/** XML holds no control characters, not even as entities. */
function xmlText(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
