// A Raymond that is killed with -9, at every moment around a launch: a command that had any effect
// can always be found again from its folder, and one that cannot be found never has an effect.
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

const said = (child: ChildProcess) =>
  new Promise<boolean>((resolve) => {
    child.stdout?.once('data', () => resolve(true));
    child.once('close', () => resolve(false));
  });

/** A command that has its effect at once and then stays, at most until the test's folder goes. */
function effective(): Launch {
  const here = folder();
  const script = 'echo >"$1.effect"; while [ -e "$1.effect" ]; do sleep 0.2; done';
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
  // Wrapper and command both name the folder in their arguments, as long as they live.
  const name = one.folder.slice(-NAME_LENGTH);
  await until(() => !commandLines().includes(name));
  expect(hasEffect(one)).toBe(false);
  return 'harmless';
}

/** The end of a folder's path, which is plain text that ps shows as it is. */
const NAME_LENGTH = 'XXXXXX/step-1'.length;

function commandLines(): string {
  return spawnSync('ps', ['-axww', '-o', 'args='], { encoding: 'utf8' }).stdout;
}

test('killed before and after every call of a launch', async () => {
  const outcomes: string[] = [];
  for (let crashPoint = 0; ; crashPoint++) {
    const one = effective();
    const child = launcher(crashPoint, [one]);
    const over = ended(child);
    const survived = await said(child);
    if (survived) child.kill('SIGKILL');
    expect(await over).toBe('SIGKILL');
    outcomes.push(await expectFoundOrHarmless(one));
    if (survived) break;
  }
  expect(outcomes.length).toBeGreaterThan(15);
  expect(outcomes[0]).toBe('harmless');
  expect(outcomes.at(-1)).toBe('found');
});

test.each([1, 2, 3, 5, 7])('killed while it launches many, about the %d. of them', async (n) => {
  const many = Array.from({ length: 8 }, effective);
  const child = launcher('never', many);
  const over = ended(child);
  await until(() => existsSync(many[n]?.folder ?? ''));
  child.kill('SIGKILL');
  await over;
  const outcomes = await Promise.all(many.map(expectFoundOrHarmless));
  expect(outcomes[0]).toBe('found');
});

test.each([
  ['while it runs', false],
  ['after its end', true],
])('the exit code of an orphan is adopted %s', async (_, isLate) => {
  const here = folder();
  const script = 'echo early; until [ -e go ]; do sleep 0.02; done; echo late; exit 7';
  const args = ['-c', script];
  const one = { ...plain, folder: here, command: '/bin/bash', args, cwd: path('.') };
  const child = launcher('never', [one]);
  const over = ended(child);
  expect(await said(child)).toBe(true);
  child.kill('SIGKILL');
  await over;

  const first = adopt(here);
  const identity = first?.identity;
  if (first === undefined || identity === undefined) throw new Error('not found');
  own(first);
  expect(isAlive(identity)).toBe(true);
  writeFileSync(path('go'), '');
  if (isLate) await until(() => !isAlive(identity));
  const adopted = isLate ? adopt(here) : first;
  expect(await adopted?.ended).toEqual({ kind: 'exited', code: 7 });
  expect(text(first.stdoutFile)).toBe('early\nlate\n');
});

test('an adopted process is stopped with all of its tree', async () => {
  const one = effective();
  const child = launcher('never', [one]);
  const over = ended(child);
  await said(child);
  child.kill('SIGKILL');
  await over;
  const adopted = adopt(one.folder);
  if (adopted?.identity === undefined) throw new Error('not found');
  own(adopted);
  await until(() => hasEffect(one));
  expect(await adopted.stop()).toEqual([]);
  expect(isAlive(adopted.identity)).toBe(false);
  expect(await adopted.ended).toEqual({ kind: 'exited', code: 130 });
});
