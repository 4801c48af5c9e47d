/**
 * Every operation on journal, state, lock and mailbox fails once, in a whole run through the command
 * line. The run is neither lost nor damaged, the error has a remedy, and no step is left.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { commandLine } from '../../src/cli/command-line.ts';
import { scriptedAgent } from '../../src/execute/rehearsal/scripted.ts';
import type { Executor, Step } from '../../src/ports.ts';
import { diskError, guarded, hastyDisk, type Operation, type Verdict } from '../journal/door.ts';
import { inSuite } from '../long.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { waysOf } from './ways.ts';

type Guard = (operation: Operation) => Verdict;

const world: { guard: Guard | undefined; running: number; launched: number } = {
  guard: undefined,
  running: 0,
  launched: 0,
};

const disk = guarded(hastyDisk, (operation) => world.guard?.(operation));

/** Answers like the workflow's scripts, and counts the running steps. */
const scriptExecutor = (): Executor => {
  const agent = scriptedAgent(answer);
  const counted =
    (start: Executor['start']): Executor['start'] =>
    (step, live) => {
      const running = start(step, live);
      world.running++;
      world.launched++;
      void running.outcome.then(() => world.running--);
      return running;
    };
  return { ...agent, start: counted(agent.start), adopt: counted(agent.adopt) };
};

const FILES = Object.fromEntries(
  ['START', 'LOOP', 'SUB', 'BACK', 'WORK'].map((name) => [`flow/${name}.sh`, '#']),
);

function answer({ state, ...step }: Step): string {
  const input = 'input' in step ? Number(step.input ?? 0) : 0;
  switch (state) {
    case 'START.sh':
      return '<fork item="a">WORK</fork><fork item="b">WORK</fork><goto>LOOP</goto>';
    case 'LOOP.sh':
      return input < 1
        ? `<goto input="${input + 1}">LOOP</goto>`
        : '<call return="BACK">SUB</call>';
    case 'BACK.sh':
      return '<result>back</result>';
    default:
      return `<result>${step.environment.item ?? 'sub'}</result>`;
  }
}

let said = { stdout: '', stderr: '' };

beforeEach(() => {
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text, ...rest) => {
      said[name] += String(text);
      const done = rest.find((one) => typeof one === 'function');
      done?.();
      return true;
    });
  }
});

afterEach(() => {
  vi.restoreAllMocks();
});

async function life(project: Project, ...args: string[]) {
  said = { stdout: '', stderr: '' };
  const code = await commandLine(args, { cwd: project.folder, disk, scriptExecutor });
  expect(world.running, 'steps that were left running').toBe(0);
  endProcess(project);
  return { code, ...said };
}

/** All lives share this process, so a lock that could not be released would otherwise stay valid. */
function endProcess(project: Project): void {
  const folder = project.path('.raymond', 'runs', 'sweep');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (name.startsWith('lock')) rmSync(join(folder, name));
}

const START = ['flow', '--workflow-id', 'sweep', '--no-debug'];

async function undisturbed() {
  world.guard = undefined;
  const project = newProject(FILES);
  expect(await life(project, ...START)).toMatchObject({ code: 0, stdout: 'back\n' });
  return waysOf(project.journal('sweep'));
}

const faults = inSuite<readonly [string, Verdict, 'once' | 'from then on']>(
  [
    ['ENOSPC', { error: diskError('ENOSPC') }, 'once'],
    ['EROFS', { error: diskError('EROFS') }, 'from then on'],
    ['half a write, then ENOSPC', { half: true, error: diskError('ENOSPC') }, 'from then on'],
  ],
  [['EIO', { error: diskError('EIO') }, 'once']],
);

describe.each(faults)('%s', (_, verdict, duration) => {
  test(`at every operation, ${duration}`, async () => {
    const expected = await undisturbed();
    let troubles = 0;
    let failed = true;
    for (let k = 1; failed; k++) {
      failed = false;
      let operations = 0;
      const project = newProject(FILES);
      world.guard = (operation) => {
        if (operation === 'read' || (verdict?.half && operation !== 'write')) return undefined;
        const isDue = ++operations === k || (failed && duration === 'from then on');
        failed ||= isDue;
        return isDue ? verdict : undefined;
      };
      const first = await life(project, ...START);
      if (first.code !== 0) {
        troubles++;
        expect(first.code, `operation ${k}`).toBe(1);
        expect(first.stderr, `operation ${k}`).toMatch(/^raymond: .+\.\n {9}\S.+\.?\n/m);
        expect(first.stderr).not.toContain('This is a bug');
      }
      world.guard = undefined;
      await resumeOrStart(project, `operation ${k}`);
      expect(waysOf(project.journal('sweep')), `operation ${k}`).toEqual(expected);
    }
    expect(troubles).toBeGreaterThan(verdict?.half ? 8 : 20);
  });
});

test('.raymond removed before every operation ends the run immediately, and nothing is completed', async () => {
  let losses = 0;
  for (let k = 1; ; k++) {
    const project = newProject(FILES);
    let operations = 0;
    let hadBegun = false;
    let before = 0;
    let appends = 0;
    world.launched = 0;
    world.guard = (operation) => {
      if (operations >= k && operation === 'sync') appends++;
      if (operation === 'read' || ++operations !== k) return undefined;
      appends = operation === 'sync' ? 1 : 0;
      hadBegun = project.journal('sweep').length > 0;
      before = world.launched;
      rmSync(project.path('.raymond'), { recursive: true, force: true });
      return undefined;
    };
    const { code, stderr } = await life(project, ...START);
    world.guard = undefined;
    if (operations < k) break;
    expect(stderr, `operation ${k}`).not.toContain('This is a bug');
    // A folder that is removed before the run begins is created again.
    if (!hadBegun) continue;
    // One append may have checked just before; it may be the last one.
    expect(appends, `operation ${k}`).toBeLessThanOrEqual(1);
    if (stderr.includes('completed')) continue;
    losses++;
    expect(code, `operation ${k}`).toBe(1);
    expect(stderr, `operation ${k}`).toMatch(/^raymond: .+\.\n {9}\S.+\.?\n/m);
    // Only steps that were decided before may still start.
    expect(world.launched - before, `operation ${k}`).toBeLessThanOrEqual(3);
  }
  expect(losses).toBeGreaterThan(30);
});

async function resumeOrStart(project: Project, when: string): Promise<void> {
  const events = project.journal('sweep');
  if (events.at(-1)?.type === 'run-ended') return;
  const args = events.length > 0 ? ['resume', 'sweep', '--no-debug'] : START;
  expect(await life(project, ...args), when).toMatchObject({ code: 0, stdout: 'back\n' });
}
