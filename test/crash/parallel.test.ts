import { rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { newProject } from '../new-project.ts';
import { processesLeft } from '../survivors.ts';
import { Crew } from './crew.ts';

test('fifty children work at the same time, and one that fails does not stop the others', async () => {
  const crew = new Crew(50);
  writeFileSync(crew.project.path('fails-7'), '');
  const life = crew.start();
  await crew.gathered();
  crew.openGate();
  const { code, stdout, stderr } = await life.ended;
  expect(code).toBe(1);
  expect(stdout).toBe('all are sent\n');
  expect(stderr).toContain('WORK.sh exited with 3. It said: no 7 today');
  const results = crew.events('agent-ended').map((event) => 'result' in event && event.result);
  expect(results).toHaveLength(50);
  expect(results).not.toContain('7');

  rmSync(crew.project.path('fails-7'));
  expect(await crew.resume().ended).toMatchObject({ code: 0 });
  expect(crew.done().at(-1)).toBe('7');
  expect(crew.done()).toHaveLength(50);
  expect(crew.here().at(-1)).toBe('7 try 2');
});

test('--fail-fast stops the others', async () => {
  const crew = new Crew(4);
  writeFileSync(crew.project.path('fails-1'), '');
  crew.project.write(
    'crew/WORK.sh',
    `
echo "$number" >>here
if [ -e "fails-$number" ]; then
  until [ "$(grep -c . here)" = 4 ]; do sleep 0.02; done
  exit 1
fi
[ -e open ] || read -r _ <gate
echo '<goto>DONE</goto>'`,
  );
  const life = crew.start('--fail-fast');
  expect(await life.ended).toMatchObject({ code: 1 });
  expect(crew.done()).toEqual([]);
  expect(crew.events('stop-requested')).toMatchObject([{ how: 'now', why: 'failure' }]);
  expect(await processesLeft(crew.project.folder)).toEqual([]);

  rmSync(crew.project.path('fails-1'));
  crew.openGate();
  expect(await crew.resume().ended).toMatchObject({ code: 0 });
  expect(crew.done()).toHaveLength(4);
});

test('--max-parallel is reached, and never exceeded', async () => {
  const crew = new Crew(9);
  crew.project.write(
    'crew/WORK.sh',
    `
echo in >>doors
until [ "$(grep -c in doors)" -ge 3 ]; do sleep 0.02; done
echo out >>doors
echo '<result></result>'`,
  );
  expect(await crew.start('--max-parallel', '3').ended).toMatchObject({ code: 0 });
  let inside = 0;
  const counts = crew.project.lines('doors').map((line) => {
    inside += line === 'in' ? 1 : -1;
    return inside;
  });
  expect(counts).toHaveLength(18);
  expect(Math.max(...counts)).toBe(3);
});

test('--max-iterations ends a run cleanly, and a higher limit continues it', async () => {
  const project = newProject({
    'loop/START.sh': `
echo >>steps
if [ "$(grep -c ^ steps)" -lt 8 ]; then echo '<goto>START</goto>'; else echo '<result>8</result>'; fi`,
  });
  const first = await project.run(['loop', '--workflow-id', 'loop', '--max-iterations', '5']);
  expect(first).toMatchObject({ code: 3, stdout: '' });
  expect(first.stderr).toContain('stopped: iterations');
  expect(project.lines('steps')).toHaveLength(5);
  const second = await project.run(['resume', 'loop', '--max-iterations', '10']);
  expect(second).toMatchObject({ code: 0, stdout: '8\n' });
  expect(project.lines('steps')).toHaveLength(8);
});

test('runs that begin and end at the same time are not reported as crashed', async () => {
  const project = newProject({ 'short/START.sh': `echo '<result>ok</result>'` });
  const lives = Array.from({ length: isLong ? 24 : 12 }, () =>
    project.run(['short', '--no-debug']),
  );
  const said = (await Promise.all(lives)).map(({ stderr }) => stderr);
  expect(said.filter((text) => text.includes('Left behind'))).toEqual([]);
});
