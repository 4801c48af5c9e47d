import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { newProject } from '../new-project.ts';
import { survivors } from '../survivors.ts';

const LOOP = `
n=\${RAYMOND_RESULT:-0}
echo "$RAYMOND_STATE $n try $RAYMOND_ATTEMPT" >>"$log"
if [ "$n" -lt 25 ]; then echo "<goto input=\\"$((n + 1))\\">START</goto>"; else echo '<result>25</result>'; fi`;

/** Where nothing can be mounted, this is only shown with a disk that pretends: full-disk.test.ts. */
test('a disk that is really full stops a run, which goes on when there is space again', async (context) => {
  const project = newProject({ 'loop/START.sh': LOOP });
  const kept = project.path('.raymond');
  mkdirSync(kept);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', kept]);
  if (mounted.status !== 0) {
    context.annotate('No file system can be mounted here: shown with an injected disk only.');
    return;
  }
  onTestFinished(() => void spawnSync('umount', ['-l', kept]));

  // Room for a beginning, not for all the steps.
  const ballast = project.path('.raymond', 'ballast');
  writeFileSync(ballast, Buffer.alloc((2048 - 112) * 1024));
  const set = ['--set', `log=${project.path('log')}`];
  const first = await project.run(['loop', '--workflow-id', 'full', ...set]);
  expect(first.code).toBe(1);
  expect(first.stderr).toMatch(/no space left/i);
  expect(first.stderr).toMatch(/raymond resume full/);
  expect(first.stderr).not.toContain('This is a bug');
  expect(survivors(project.folder)).toEqual([]);
  const before = project.lines('log');
  expect(before.length).toBeGreaterThan(0);

  rmSync(ballast);
  expect(await project.run(['resume', 'full'])).toMatchObject({ code: 0, stdout: '25\n' });
  const done = project.lines('log').map((line) => line.replace(/ try .*/, ''));
  expect([...new Set(done)]).toEqual(Array.from({ length: 26 }, (_, n) => `START.sh ${n}`));
  const again = project.lines('log').slice(before.length)[0];
  expect(again).toMatch(/^START\.sh \d+ try [12]$/);
});
