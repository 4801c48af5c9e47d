// Scripts against what the machine needs for them anyway. A busy machine makes every figure larger, so
// rounds of the floor and of Raymond take turns, and the least of each counts.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const ROUNDS = 5;
const STEPS = 300;

/** One transition, against the same script in a shell loop. */
export function scriptTransition(bin, folder, say) {
  const flow = workflow(folder, {
    'START.sh': `read -r n <n 2>/dev/null || n=0
n=$((n + 1)); echo $n >n
if [ $n -lt "$STEPS" ]; then echo '<reset>START</reset>'; else rm n; echo '<result>done</result>'; fi
`,
  });
  const loop = `for ((i = 0; i < STEPS; i++)); do /bin/bash START.sh >out; done`;
  const floor = () => timed('/bin/bash', ['-c', loop], flow, { STEPS }) / STEPS;
  const perStep = (...options) => {
    const run = (steps) =>
      timed(process.execPath, [bin, 'START.sh', '--quiet', ...options], flow, { STEPS: steps });
    return (run(STEPS) - run(1)) / (STEPS - 1);
  };
  const best = leastOf({
    floor,
    debug: () => perStep('--debug'),
    plain: () => perStep('--no-debug'),
  });
  say('script in a loop', `${best.floor.toFixed(2)} ms`);
  say('script transition', ratio(best.debug, best.floor, 'ms'));
  say('  without debug', ratio(best.plain, best.floor, 'ms'));
}

/** 50 scripts of half a second at the same time. */
export function scriptWorkers(bin, folder, say) {
  const fork = '<fork>WORK</fork>';
  const flow = workflow(folder, {
    'START.sh': `for ((i = 0; i < \${WORKERS:-50}; i++)); do echo '${fork}'; done; echo '<goto>ONE</goto>'\n`,
    'WORK.sh': `sleep 0.5; echo '<result>ok</result>'\n`,
    'ONE.sh': `echo '<result>ok</result>'\n`,
  });
  const run = (state) => timed(process.execPath, [bin, state, '--quiet'], flow, {});
  const best = leastOf({ one: () => run('ONE.sh'), all: () => run('.') });
  say('50 scripts of 0.5 s', ratio(best.all, 500 + best.one, 'ms'));
}

/** Compares the cost of stopping many sleeping scripts with that of a few. */
export async function stopWorkers(bin, folder, say) {
  const flow = workflow(folder, {
    'START.sh': `for ((i = 0; i < WORKERS; i++)); do echo '<fork>WORK</fork>'; done; echo '<goto>WORK</goto>'\n`,
    'WORK.sh': 'echo >"here/$RAYMOND_AGENT_ID"; exec sleep 600\n',
  });
  const best = { few: Infinity, many: Infinity };
  for (let round = 0; round < ROUNDS; round++) {
    best.few = Math.min(best.few, await stopCost(bin, flow, 25));
    best.many = Math.min(best.many, await stopCost(bin, flow, 100));
  }
  say(
    'stop 100 scripts',
    `${(best.many / best.few).toFixed(2)} × the CPU of 25 (${best.few.toFixed(0)} ms)`,
  );
}

async function stopCost(bin, flow, workers) {
  const here = join(flow, 'here');
  rmSync(here, { recursive: true, force: true });
  mkdirSync(here);
  const child = spawn(process.execPath, [bin, '.', '--quiet'], {
    cwd: flow,
    stdio: 'ignore',
    env: { ...process.env, WORKERS: String(workers) },
  });
  let isOver = false;
  child.once('exit', () => {
    isOver = true;
  });
  while (!isOver && readdirSync(here).length <= workers) await delay(20);
  if (isOver) throw new Error(`The run ended with ${child.exitCode} before it was stopped.`);
  const before = cpuMs(child.pid);
  let after = before;
  child.kill('SIGTERM');
  while (!isOver) {
    after = cpuMs(child.pid) ?? after;
    await delay(2);
  }
  return after - before;
}

/** The CPU time of a process's main thread; undefined when it has ended. */
function cpuMs(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}

function workflow(folder, files) {
  const flow = mkdtempSync(join(folder, 'flow-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(flow, name), text);
  return flow;
}

function leastOf(measures) {
  const best = Object.fromEntries(Object.keys(measures).map((name) => [name, Infinity]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, measure] of Object.entries(measures))
      best[name] = Math.min(best[name], measure());
  return best;
}

function timed(command, args, cwd, env) {
  const start = performance.now();
  const texts = Object.entries(env).map(([name, value]) => [name, String(value)]);
  const { status } = spawnSync(command, args, {
    cwd,
    stdio: 'ignore',
    env: { ...process.env, ...Object.fromEntries(texts) },
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${status}.`);
  return performance.now() - start;
}

function ratio(measured, floor, unit) {
  return `${measured.toFixed(2)} ${unit}, ${(measured / floor).toFixed(2)} × the floor`;
}
