// Checks everything with one command. The cheap, static checks come first and run together. The build
// follows, because some tests run the same bin/raymond.js as users.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  compareRuns,
  everyFailure,
  failedText,
  filesToRepeat,
  unsteadyText,
} from './failed-tests.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The paths to test; all, if none is named. The tests in `src` need no agent. */
const named = process.argv.slice(2);
const needsAgent = named.length === 0 || named.some((path) => !path.startsWith('src'));

const stages = [
  [
    ['style', 'npm', ['run', '--silent', 'check:style']],
    ['types', 'npm', ['run', '--silent', 'check:types']],
    ['types of the pure folders', 'npm', ['run', '--silent', 'check:pure']],
    ['unused code', 'npm', ['run', '--silent', 'check:unused']],
  ],
  [
    ['build', 'node', ['scripts/build.js', '--if-changed']],
    ...(needsAgent
      ? [
          ['the real agent', 'node', ['test/real-agent/install.js']],
          ['other agents', 'node', ['test/other-agents/install.js']],
        ]
      : []),
  ],
];

for (const stage of stages) {
  const results = await Promise.all(stage.map((one) => run(one)));
  if (results.some((ok) => !ok)) process.exit(1);
}
if (!(await areTestsPassed())) process.exit(1);

/** A few failed tests run a second time, to learn whether they are unsteady. */
async function areTestsPassed() {
  const first = await test('tests', named);
  if (first.isPassed) return true;
  const files = filesToRepeat(first.report);
  if (files.length === 0) {
    if (first.report) console.log(failedText(everyFailure(first.report)));
    return false;
  }
  const second = await test('the failed tests, a second time', files);
  const { failed, unsteady } = compareRuns(first.report, second.report);
  if (unsteady.length > 0) console.log(unsteadyText(unsteady));
  if (failed.length > 0) console.log(failedText(failed));
  return second.isPassed;
}

async function test(name, paths) {
  const folder = mkdtempSync(join(tmpdir(), 'failed-tests-'));
  const file = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=./scripts/failed-tests-reporter.js'];
  const args = ['run', '--silent', 'test:only', '--', ...reporters, ...paths];
  const isPassed = await run([name, 'npm', args], { env: { FAILED_TESTS: file }, isShown: true });
  const report = readReport(file);
  rmSync(folder, { recursive: true });
  return { isPassed, report };
}

/** Undefined if the tests ended before they could report. */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The output of what passes is not interesting, unless it takes minutes. */
function run([name, command, args], { env = {}, isShown = false } = {}) {
  const started = Date.now();
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      if (isShown) process.stdout.write(chunk);
      else output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
      if (code !== 0 && output) console.log(output);
      resolve(code === 0);
    });
  });
}
