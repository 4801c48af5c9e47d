// Kills Raymond with SIGKILL at every moment around a launch. A command that had any effect can
// always be found again from its folder. A command that cannot be found never has an effect.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAlive, type Launch } from '../../src/execute/process/index.ts';
import { plain, steps, text, until } from './fixtures/steps.ts';

const { path, folder, own, adopt } = steps();
const bundle = mkdtempSync(join(tmpdir(), 'raymond-launcher-'));
const launcherFile = join(bundle, 'launcher.mjs');

beforeAll(() =>
  build({
    entryPoints: [fileURLToPath(new URL('./fixtures/launcher.ts', import.meta.url))],
    outfile: launcherFile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  }),
);

afterAll(() => rmSync(bundle, { recursive: true }));

function launcher(crashPoint: number | 'never', launches: readonly Launch[]): ChildProcess {
  const args = launches.map((one) => JSON.stringify(one));
  return spawn(process.execPath, [launcherFile, String(crashPoint), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const ended = (child: ChildProcess) =>
  new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('close', (_, signal) => resolve(signal));
  });

const printsSomething = (child: ChildProcess) =>
  new Promise<boolean>((resolve) => {
    child.stdout?.once('data', () => resolve(true));
    child.once('close', () => resolve(false));
  });

/**
 * A command that has its effect immediately and then runs until the test's folder is removed. Without the
 * trap, Bash goes on after a SIGINT that comes at the moment in which `sleep` ends by itself.
 */
function effective(): Launch {
  const here = folder();
  const script = `trap 'exit 130' INT; echo >"$1.effect"; while [ -e "$1.effect" ]; do sleep 0.2; done`;
  const args = ['-c', script, 'bash', here];
  return { ...plain, folder: here, command: '/bin/bash', args, cwd: path('.') };
}

const hasEffect = ({ folder: here }: Launch) => existsSync(`${here}.effect`);

async function expectFoundOrHarmless(one: Launch): Promise<'found' | 'harmless'> {
  const adopted = adopt(one.folder);
  if (adopted !== undefined) {
    own(adopted);
    let hasEnded = false;
    adopted.ended.then(() => {
      hasEnded = true;
    });
    await until(() => hasEnded || hasEffect(one));
    if (!hasEnded) {
      expect(adopted.identity && isAlive(adopted.identity)).toBe(true);
      return 'found';
    }
    expect(await adopted.ended).toMatchObject({ kind: 'unstarted' });
  }
  // The arguments of the wrapper and of the command both contain the folder.
  const name = one.folder.slice(-NAME_LENGTH);
  await until(() => !commandLines().includes(name));
  expect(hasEffect(one)).toBe(false);
  return 'harmless';
}

/** The end of a folder's path is ASCII text, which ps shows unchanged. */
const NAME_LENGTH = 'XXXXXX/step-1'.length;

function commandLines(): string {
  return spawnSync('ps', ['-axww', '-o', 'args='], { encoding: 'utf8' }).stdout;
}

test('a kill before or after any system call of a launch loses no command', async () => {
  const outcomes: string[] = [];
  for (let crashPoint = 0; ; crashPoint++) {
    const one = effective();
    const child = launcher(crashPoint, [one]);
    const exit = ended(child);
    const survived = await printsSomething(child);
    if (survived) child.kill('SIGKILL');
    expect(await exit).toBe('SIGKILL');
    outcomes.push(await expectFoundOrHarmless(one));
    if (survived) break;
  }
  expect(outcomes.length).toBeGreaterThan(15);
  expect(outcomes[0]).toBe('harmless');
  expect(outcomes.at(-1)).toBe('found');
});

test.each([1, 2, 3, 5, 7])(
  'a kill during the launch of several commands loses none (at command %d)',
  async (n) => {
    const many = Array.from({ length: 8 }, effective);
    const child = launcher('never', many);
    const exit = ended(child);
    await until(() => existsSync(many[n]?.folder ?? ''));
    child.kill('SIGKILL');
    await exit;
    const outcomes = await Promise.all(many.map(expectFoundOrHarmless));
    expect(outcomes[0]).toBe('found');
  },
);

test.each([
  ['while it runs', false],
  ['after its end', true],
])('an orphan that is adopted %s reports its exit code', async (_, isLate) => {
  const here = folder();
  const script = 'echo early; until [ -e go ]; do sleep 0.02; done; echo late; exit 7';
  const args = ['-c', script];
  const one = { ...plain, folder: here, command: '/bin/bash', args, cwd: path('.') };
  const child = launcher('never', [one]);
  const exit = ended(child);
  expect(await printsSomething(child)).toBe(true);
  child.kill('SIGKILL');
  await exit;

  const first = adopt(here);
  const identity = first?.identity;
  if (first === undefined || identity === undefined) throw new Error('not found');
  own(first);
  expect(isAlive(identity)).toBe(true);
  writeFileSync(path('go'), '');
  if (isLate) await until(() => !isAlive(identity));
  const adopted = isLate ? adopt(here) : first;
  expect(await adopted?.ended).toEqual({ kind: 'exited', code: 7 });
  expect(text(first.stdout.path)).toBe('early\nlate\n');
});

test('a stop of an adopted process ends its whole tree', async () => {
  const one = effective();
  const child = launcher('never', [one]);
  const exit = ended(child);
  await printsSomething(child);
  child.kill('SIGKILL');
  await exit;
  const adopted = adopt(one.folder);
  if (adopted?.identity === undefined) throw new Error('not found');
  own(adopted);
  await until(() => hasEffect(one));
  expect(await adopted.stop(50_000)).toEqual([]);
  expect(isAlive(adopted.identity)).toBe(false);
  expect(await adopted.ended).toEqual({ kind: 'exited', code: 130 });
});
