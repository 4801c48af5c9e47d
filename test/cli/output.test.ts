/** Large, binary and early output of scripts, and output of their background jobs. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { Crew } from '../crash/crew.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { processesLeft } from '../survivors.ts';

const BIG_MB = 50;
const PEAK_MB = 250;

test.each([
  ['lines', "yes 'a line of output that goes on and on'"],
  ['one line', `tr '\\0' x </dev/zero`],
])('50 MB of output as %s take little memory, and the tag after them counts', async (_, writer) => {
  const crew = new Crew(0);
  crew.project.write(
    'big/START.sh',
    `${writer} | head -c ${BIG_MB * 1024 * 1024}\necho '<goto input="found">HOLD</goto>'`,
  );
  crew.project.write(
    'big/HOLD.sh',
    `echo >here; read -r _ <gate; echo "<result>$RAYMOND_RESULT</result>"`,
  );
  const life = crew.project.start(['big', '--workflow-id', 'big']);
  await crew.gathered(1);
  expect(peakMegabytes(life.pid)).toBeLessThan(PEAK_MB);
  await eventually('it went through the gate', () => {
    crew.openGate();
    return life.child.exitCode !== null;
  });
  expect(await life.ended).toMatchObject({ code: 0, stdout: 'found\n' });
});

/** The peak memory of a process. 0 where the system does not report it. */
function peakMegabytes(pid: number): number {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return 0;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))?.[1]) / 1024;
}

test.each([
  [
    'bytes that are not text',
    `printf '\\377\\376\\000<<\\301<result>fine</result>\\377'`,
    'fine\n',
  ],
  ['a result with them', `printf '<result>a\\377b</result>'`, 'a\ufffdb\n'],
  ['no newline at the end', `printf '<result>fine</result>'`, 'fine\n'],
  ['a result of many lines', `printf '<result>1\\n\\n2\\n</result>\\n'`, '1\n\n2\n\n'],
  [
    'a result that quotes tags',
    `echo '<result><goto>X</goto> & more</result>'`,
    '<goto>X</goto> & more\n',
  ],
  ['a tag on stderr as well', `echo '<goto>X</goto>' >&2; echo '<result>out</result>'`, 'out\n'],
])('%s', async (_, script, stdout) => {
  const project = newProject({ 'flow/START.sh': script });
  expect(await command(project, ['flow'])).toMatchObject({ code: 0, stdout });
});

test('a background job neither delays its step nor outlives it', async () => {
  const project = newProject({
    'flow/START.sh': `sleep 1000 & echo $! >job; echo '<goto>NEXT</goto>'`,
    'flow/NEXT.sh': `echo '<result>done</result>'`,
  });
  expect(await project.run(['flow'])).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(project.lines('job')).toHaveLength(1);
  expect(await processesLeft(project.folder)).toEqual([]);
});

test('printed text is shown while the step still runs', async () => {
  const crew = new Crew(0);
  crew.project.write(
    'flow/START.sh',
    `echo '<print>half way</print>'; read -r _ <gate; echo '<result>end</result>'`,
  );
  const life = crew.project.start(['flow']);
  await eventually('the print is shown', () => life.stderr().includes('half way'));
  expect(life.stdout()).toBe('');
  await eventually('it went through the gate', () => {
    crew.openGate();
    return life.child.exitCode !== null;
  });
  expect(await life.ended).toMatchObject({ code: 0, stdout: 'end\n' });
});
