// Measures the claims of the documentation about speed: npm run bench
// Prints medians, and ratios where a plain number would only describe the machine.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { apply, newRun } from '../dist/index.js';
import { scriptTransition, scriptWorkers, stopWorkers } from './script-steps.js';
import { warmTurns } from './warm-turns.js';

const bin = fileURLToPath(new URL('../bin/raymond.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'raymond-bench-'));

const cases = {
  'start-up': startUp,
  'script-transition': () => scriptTransition(bin, folder, say),
  'script-workers': () => scriptWorkers(bin, folder, say),
  'stop-workers': () => stopWorkers(bin, folder, say),
  events,
  prompts,
};
const { values } = parseArgs({ options: { case: { type: 'string', multiple: true } } });

try {
  for (const name of values.case ?? Object.keys(cases)) {
    if (!cases[name]) throw new Error(`There is no case ${name}: ${Object.keys(cases).join(', ')}`);
    await cases[name]();
  }
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
