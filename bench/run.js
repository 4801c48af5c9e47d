// Measures the claims of the documentation about speed: npm run bench
// Prints medians, and ratios where a plain number would only describe the machine.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apply, newRun } from '../dist/index.js';
import { warmTurns } from './warm-turns.js';

const bin = fileURLToPath(new URL('../bin/raymond.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'raymond-bench-'));

try {
  startUp();
  scriptSteps();
  events();
  await prompts();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function startUp() {
  const bare = median(() => node('-e', '0'));
  for (const command of ['--help', 'list']) {
    const ms = median(() => node(bin, command));
    say(`raymond ${command}`, `${ms.toFixed(0)} ms, ${(ms / bare).toFixed(2)} times node -e 0`);
  }
}

function scriptSteps() {
  const steps = 200;
  writeFileSync(
    join(folder, 'START.sh'),
    `n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n >n
if [ $n -lt ${steps} ]; then echo '<goto>START</goto>'; else rm n; echo '<result>done</result>'; fi
`,
  );
  const script = median(() => timed(() => spawnSync('/bin/bash', ['-c', 'cat /dev/null'])), 20);
  const run = timed(() => node(bin, join(folder, 'START.sh'), '--quiet', '--no-debug'));
  const perStep = run / steps;
  say('a script step', `${perStep.toFixed(1)} ms, of which bash itself ${script.toFixed(1)} ms`);
}

async function prompts() {
  for await (const { version, cold, warm } of warmTurns(folder)) {
    const ratio = `${(warm / cold).toFixed(2)} of the ${cold.toFixed(0)} ms of a new process`;
    say('a warm prompt', `${warm.toFixed(0)} ms, ${ratio} (${version})`);
  }
}

/** The work for an event must not grow with the number of agents. */
function events() {
  const cost = [10, 10_000].map((agents) => {
    let run = apply(newRun, started());
    for (let n = 1; n <= agents; n++) run = apply(run, forked(n));
    const many = 20_000;
    return (
      timed(() => {
        for (let n = 0; n < many; n++) run = apply(run, moved(1 + (n % agents)));
      }) / many
    );
  });
  const [few = 0, more = 0] = cost.map((ms) => ms * 1000);
  say('folding an event', `${few.toFixed(1)} µs with 10 agents, ${more.toFixed(1)} µs with 10,000`);
}

function started() {
  return {
    type: 'run-started',
    version: 2,
    at: 1,
    run: 'bench',
    workflow: '/w',
    state: 'START.md',
    cwd: '/',
    settings: newRun.settings,
    metadata: {},
  };
}

function forked(n) {
  const place = { state: 'W.md', workflow: '/w', cwd: '/', variables: {} };
  return { type: 'agent-forked', at: 2, agent: `main_w${n}`, parent: 'main', counter: n, ...place };
}

function moved(n) {
  return {
    type: 'agent-moved',
    at: 3,
    agent: `main_w${n}`,
    tag: 'goto',
    state: 'W.md',
    workflow: '/w',
    session: { kind: 'none' },
    cwd: '/',
    stack: { kind: 'keep' },
  };
}

function node(...args) {
  return timed(() => spawnSync(process.execPath, args, { cwd: folder, stdio: 'ignore' }));
}

function timed(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function median(measure, times = 11) {
  const all = Array.from({ length: times }, measure).sort((a, b) => a - b);
  return all[Math.floor(times / 2)] ?? 0;
}

function say(what, how) {
  console.log(`${what.padEnd(20)} ${how}`);
}
