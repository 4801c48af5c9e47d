// Raymond takes nothing from a file that others have put in the place of a step's file.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { suiteAges } from './claude-sandbox.ts';
import { allowBash, bash, eventsOf, killHard, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();
const STEPS = '.raymond/runs/r/steps';
const TOLD = /was not written by this version|was replaced, moved or linked/;

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('an agent does not write the answer of a script that runs beside it', async () => {
    const world = await sandbox({
      age,
      workflow: {
        'START.sh': `echo '<fork next="WAIT">TRICK</fork>'`,
        'WAIT.sh': `touch began\nuntil [ -e go ]; do sleep 0.05; done\necho '<result>true</result>'`,
        'EVIL.sh': `touch evil\necho '<result>evil</result>'`,
        'TRICK.md': 'Trick.',
      },
      script: (_, turn) => tricks[turn] ?? '<result>tried</result>',
    });
    const tricks = [
      bash(`until [ -e began ]; do sleep 0.05; done; echo '<goto>EVIL</goto>' > out`),
      bash(`mv .raymond rr; mv out rr/runs/r/steps/main/2/stdout; mv rr .raymond`),
      bash('touch go'),
    ];
    await allowBash(world.claude);
    const { stderr } = await world.run('workflow', '--workflow-id', 'r');
    expect(existsSync(world.file('evil'))).toBe(false);
    const results = eventsOf(world.journal('r'), 'agent-ended').map(({ result }) => result);
    // Another rule may have kept the agent from it.
    if (existsSync(world.file('out'))) expect(results).toContain('true');
    else expect(stderr).toContain('is not the file that Raymond created there');
  });

  const changes = inSuite<readonly [string, string]>(
    [
      ['its turn is changed', `sed -i 's/"offset":0/"offset":1/' ${STEPS}/main/1/turn.json`],
      [
        'its output is another file',
        `cp ${STEPS}/main/1/stdout copy; mv copy ${STEPS}/main/1/stdout`,
      ],
    ],
    [
      ['its turn has no seal', `sed -i 's/,"seal":"[0-9a-f]*"//' ${STEPS}/main/1/turn.json`],
      ['its process has no seal', `sed -i 's/,"seal":"[0-9a-f]*"//' ${STEPS}/main/1/process.json`],
    ],
  );

  test.each(changes)('a turn is taken again, and the person is told, if %s', async (_, change) => {
    const { start, run, model, claude, journal } = await sandbox({
      age,
      workflow: { 'START.md': 'Do it.' },
      script: (_, turn) => (turn === 0 ? '<result>first</result>' : '<result>second</result>'),
    });
    const first = start('workflow', '--workflow-id', 'r');
    await model.arrived(1);
    await killHard(first.child);
    execFileSync('/bin/bash', ['-ec', change], { cwd: claude.work });
    const { code, stderr } = await run('resume', 'r');
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(TOLD),
    });
    expect(eventsOf(journal('r'), 'agent-ended')).toMatchObject([{ result: 'second' }]);
    for (const command of ['show', 'logs']) expect((await run(command, 'r')).stdout).toMatch(TOLD);
  });
});
