// The recorded end of a script's process decides what happened, not a guess.
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { processesLeft, survivors } from '../survivors.ts';

test.each([129, 137, 143, 159])('exit code %d counts even if Raymond was dead', async (code) => {
  const project = newProject({
    'flow/START.sh': `
echo "try $RAYMOND_ATTEMPT" >>tries
until [ -e go ]; do sleep 0.02; done
echo gone >>tries
exit ${code}`,
  });
  const first = project.start(['flow', '--workflow-id', 'r']);
  await eventually('the script runs', () => project.lines('tries').length === 1);
  first.child.kill('SIGKILL');
  await first.ended;
  project.write('go', '');
  await eventually('the script has ended', () => survivors(project.folder).length === 0);

  const resumed = await project.run(['resume', 'r']);
  expect(resumed.code).toBe(1);
  expect(resumed.stderr).toContain(`START.sh exited with ${code}, as after SIG`);
  expect(project.lines('tries')).toEqual(['try 1', 'gone']);
});

test('a script whose wrapper dies is repeated once, and then fails', async () => {
  const project = newProject({
    'flow/START.sh': 'echo "try $RAYMOND_ATTEMPT" >>tries; kill -9 $PPID; sleep 600',
  });
  const life = await project.run(['flow', '--workflow-id', 'r']);
  expect(life.code).toBe(1);
  expect(project.lines('tries')).toEqual(['try 1', 'try 2']);
  expect(life.stderr).toContain('It is unknown how START.sh ended');
  expect(life.stderr).toContain('then run: raymond resume r');
  expect(await processesLeft(project.folder)).toEqual([]);

  project.write('flow/START.sh', `echo "try $RAYMOND_ATTEMPT" >>tries; echo '<result>ok</result>'`);
  expect(await project.run(['resume', 'r', '--accept-changes'])).toMatchObject({
    code: 0,
    stdout: 'ok\n',
  });
  expect(project.lines('tries')).toEqual(['try 1', 'try 2', 'try 3']);
});

test('a script whose exit file cannot be written is not repeated', async () => {
  const project = newProject({
    'flow/START.sh': `
echo "try $RAYMOND_ATTEMPT" >>tries
file=.raymond/runs/r/steps/main/1/launch; rm "$file"; ln -s /dev/full "$file"
echo '<result>paid for</result>'`,
  });
  const life = await project.run(['flow', '--workflow-id', 'r']);
  expect(life).toMatchObject({ code: 0, stdout: 'paid for\n' });
  expect(project.lines('tries')).toEqual(['try 1']);
});
