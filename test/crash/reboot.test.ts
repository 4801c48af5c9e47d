/**
 * After a reboot every pid belongs to a different process. Records of processes then have another
 * boot, even if a pid and a start time match by chance. Here they match the process of this test.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive, processSpace, self } from '../../src/execute/process/index.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { killSteps } from '../survivors.ts';

const LONG_AGO = { space: processSpace(), host: hostname(), beat: Date.now() - 120_000 };

test.each([
  ['this release', LONG_AGO],
  ['the first release', {}],
])(
  'a run that a reboot has ended continues, and processes that have its pids now are left alone (lock of %s)',
  async (_release, more) => {
    const project = newProject({
      'flow/START.sh':
        'echo "try $RAYMOND_ATTEMPT" >>tries; [ "$RAYMOND_ATTEMPT" = 2 ] || sleep 600\necho "<result>done</result>"',
    });
    const first = project.start(['flow', '--workflow-id', 'r']);
    await eventually('the step runs', () => project.lines('tries').length === 1);
    first.child.kill('SIGKILL');
    await first.ended;
    killSteps(project.folder);

    const runFolder = project.path('.raymond', 'runs', 'r');
    const before = { ...self(), boot: 'the boot before' };
    const record = join(runFolder, 'steps', 'main', '1', 'process.json');
    writeFileSync(
      record,
      JSON.stringify({ identity: before, token: 'gone', command: '/bin/bash' }),
    );
    const [lock = ''] = readdirSync(runFolder).filter((name) => name.startsWith('lock'));
    writeFileSync(join(runFolder, lock), JSON.stringify({ ...before, ...more, token: 'gone' }));

    expect(await project.run(['resume', 'r'])).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(project.lines('tries')).toEqual(['try 1', 'try 2']);
    expect(isAlive(self())).toBe(true);
  },
);
