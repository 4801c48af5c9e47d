// The work for one step stays the same, however long the run is, however many agents it has, and however
// many processes the machine has. Counted are calls and bytes, not seconds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newProject } from '../new-project.ts';

/** Starts `AGENTS` agents, each of which takes `STATES` steps, and `WAITING` others, which ask and wait. */
const FLOW = {
  'flow/START.sh': `for ((i = 1; i < AGENTS; i++)); do echo '<fork>WORK</fork>'; done
for ((i = 0; i < WAITING; i++)); do echo '<fork>WAIT</fork>'; done
echo '<goto>WORK</goto>'`,
  'flow/WORK.sh': `n=$((\${RAYMOND_RESULT:-0} + 1))
if [ $n -lt "$STATES" ]; then echo "<goto input='$n'>WORK</goto>"; else echo '<result>ok</result>'; fi`,
  'flow/WAIT.sh': `echo '<ask next="WAIT">Continue?</ask>'`,
};

interface Work {
  readonly calls: number;
  readonly transfers: number;
  readonly bytes: number;
}

/** The exit code of a run that waits for a person. */
const WAITS = 2;

/** The work of a run until each of its steps. */
async function workOf(agents: number, states: number, waiting = 0): Promise<readonly Work[]> {
  const project = newProject(FLOW);
  const { code, stderr } = await project.run(['flow', '--quiet', '--debug'], {
    env: {
      ...{ AGENTS: String(agents), STATES: String(states), WAITING: String(waiting) },
      WORK_FILE: project.path('work'),
      NODE_OPTIONS: `--import ${join(import.meta.dirname, 'fixtures', 'count-work.js')}`,
    },
  });
  if (waiting === 0) expect([code, stderr]).toEqual([0, '']);
  else expect(code).toBe(WAITS);
  const work: (Work & { programs: number })[] = JSON.parse(
    readFileSync(project.path('work'), 'utf8'),
  );
  // A launcher starts many scripts. A script with a wrapper would be a program of Raymond itself.
  expect(work.at(-1)?.programs).toBeLessThan(work.length / 10);
  return work;
}

function perStep(work: readonly Work[], from: number, to: number): Work {
  const [begin, end] = [work[from], work[to]];
  if (!begin || !end) throw new Error(`There are only ${work.length} steps.`);
  const per = (name: keyof Work) => (end[name] - begin[name]) / (to - from);
  return { calls: per('calls'), transfers: per('transfers'), bytes: per('bytes') };
}

/**
 * A run that takes longer writes its state file and its heartbeat more often. It also looks at the
 * process table at times, which reads a file for each process. Work that grew with the run would more
 * than triple.
 */
const TOLERANCE = { calls: 1.3, transfers: 2.2, bytes: 2.2 } as const;

/**
 * What grows does so each time. Other work comes and goes: V8 compiles in threads, which wake each other with
 * small writes, and a look at the process table falls into one part of a run or into another.
 */
const TRIES = 4;

async function expectSame(measure: () => Promise<readonly [few: Work, many: Work]>): Promise<void> {
  const names = ['calls', 'transfers', 'bytes'] as const;
  for (let tries = 1; ; tries++) {
    const [few, many] = await measure();
    const grown = names.filter((name) => many[name] / few[name] >= TOLERANCE[name]);
    if (grown.length > 0 && tries < TRIES) continue;
    expect([grown, few, many]).toEqual([[], few, many]);
    return;
  }
}

const LONG = { timeout: 120_000 };
const isLinux = process.platform === 'linux';

test.runIf(isLinux)('a step costs the same in a long run as in a short one', LONG, async () => {
  await expectSame(async () => {
    const work = await workOf(1, 400);
    return [perStep(work, 60, 160), perStep(work, 290, 390)];
  });
});

test.runIf(isLinux)('a step costs the same with many agents as with few', LONG, async () => {
  await expectSame(async () => {
    const [few, many] = [await workOf(10, 9), await workOf(90, 2)];
    return [perStep(few, 15, 85), perStep(many, 95, 175)];
  });
});

/** Until then, no old folder can be used again, which needs a look at the process table at times. */
const BEFORE_FIRST_LOOK = 34;

test.runIf(isLinux)('a step costs the same beside many agents that wait', LONG, async () => {
  const ofLast = (work: readonly Work[]) => perStep(work, work.length - 25, work.length - 2);
  await expectSame(async () => [
    ofLast(await workOf(1, BEFORE_FIRST_LOOK, 2)),
    ofLast(await workOf(1, BEFORE_FIRST_LOOK, 60)),
  ]);
});

test.runIf(isLinux)('a step costs the same beside many processes', LONG, async () => {
  const ofFirst = async () => perStep(await workOf(1, BEFORE_FIRST_LOOK + 2), 5, BEFORE_FIRST_LOOK);
  const loop = 'for ((i = 0; i < 300; i++)); do sleep 600 & done; wait';
  await expectSame(async () => {
    const few = await ofFirst();
    expect(few.calls).toBeLessThan(70);
    const crowd = spawn('/bin/bash', ['-c', loop], { detached: true, stdio: 'ignore' });
    try {
      return [few, await ofFirst()];
    } finally {
      const over = once(crowd, 'exit');
      if (crowd.pid) process.kill(-crowd.pid, 'SIGKILL');
      await over;
    }
  });
});
