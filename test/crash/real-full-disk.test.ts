/** The system refuses to write at some byte of the journal, in the middle of a run. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { processesLeft } from '../survivors.ts';

const LOOP = `
n=\${RAYMOND_RESULT:-0}
echo "$RAYMOND_STATE $n try $RAYMOND_ATTEMPT" >>"$log"
if [ "$n" -lt 25 ]; then echo "<goto input=\\"$((n + 1))\\">START</goto>"; else echo '<result>25</result>'; fi`;

/** A cause of missing space, and its removal. */
interface Shortage {
  readonly within?: readonly string[];
  readonly end: () => void;
}

/** Only root can mount a file system. Other users test with the limit for the size of files. */
const mayMount = process.getuid?.() === 0 || process.env.CI !== undefined;
type Way = [string, RegExp, (project: Project) => Shortage];
const shortages: readonly Way[] = [
  ['a limit for the size of files', /the file has reached the size limit/, fileLimit],
  ...(mayMount ? [['a full disk', /no space left/i, fullDisk] satisfies Way] : []),
];

test.each(shortages)(
  '%s stops a run, which continues when there is room again',
  async (_what, reason, make) => {
    const project = newProject({ 'loop/START.sh': LOOP });
    const { within = [], end } = make(project);
    const set = ['--set', `log=${project.path('log')}`];
    const first = await project.run(['loop', '--workflow-id', 'full', ...set], { within });
    expect(first.code).toBe(1);
    expect(first.stderr).toMatch(reason);
    expect(first.stderr).toMatch(/raymond resume full/);
    expect(first.stderr).not.toContain('This is a bug');
    expect(await processesLeft(project.folder)).toEqual([]);
    const before = project.lines('log');
    expect(before.length).toBeGreaterThan(0);

    end();
    expect(await project.run(['resume', 'full'])).toMatchObject({ code: 0, stdout: '25\n' });
    const done = project.lines('log').map((line) => line.replace(/ try .*/, ''));
    expect([...new Set(done)]).toEqual(Array.from({ length: 26 }, (_, n) => `START.sh ${n}`));
    const again = project.lines('log').slice(before.length)[0];
    // A start for which there was no space counts as a try, although the script did not begin.
    expect(again).toMatch(/^START\.sh \d+ try [1-5]$/);
  },
);

/** In KiB. The journal of all steps is longer. */
function fileLimit(): Shortage {
  return { within: ['bash', '-c', 'ulimit -f 5; exec "$@"', 'bash'], end: () => {} };
}

function fullDisk(project: Project): Shortage {
  const kept = project.path('.raymond');
  mkdirSync(kept, { mode: 0o700 });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', kept]);
  expect(mounted.status, `A small disk is needed, but: ${mounted.stderr}`).toBe(0);
  onTestFinished(() => void spawnSync('umount', ['-l', kept]));
  // Space for the first steps, but not for all.
  const ballast = project.path('.raymond', 'ballast');
  writeFileSync(ballast, Buffer.alloc((2048 - 112) * 1024));
  return { end: () => rmSync(ballast) };
}
