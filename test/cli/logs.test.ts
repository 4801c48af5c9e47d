/** The report of a run, from its journal. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';

const CREW = {
  'START.sh': [
    `echo '<print>first</print><print>second'`,
    `echo 'third</print>'`,
    `echo '<fork next="WAIT" item="a">WORK</fork>'`,
  ].join('\n'),
  'WORK.sh': `echo '<print>hello</print><result>done</result>'`,
  'WAIT.sh': [
    `echo '<print>before</print>'`,
    'touch begun',
    'while [ ! -e go ]; do sleep 0.01; done',
    `echo '<print>after</print><result>ok</result>'`,
  ].join('\n'),
};

/** The words of an agent's prints, in the order of the report. */
const prints = (report: string) =>
  report.split('\n').flatMap((line) => /^\S+ (\S+) +\| (.*)$/.exec(line)?.slice(1).join(' ') ?? []);

test('prints appear once and in order, also after kill -9 and a resume', async () => {
  const project = newProject(CREW);
  const killed = project.start(['.', '--workflow-id', 'crew']);
  await eventually('it waits', () => existsSync(project.path('begun')));
  await eventually('the child has ended', () =>
    project.journal('crew').some(({ type }) => type === 'agent-ended'),
  );
  killed.child.kill('SIGKILL');
  await killed.ended;
  writeFileSync(project.path('go'), '');
  expect(await command(project, ['resume', 'crew'])).toMatchObject({ code: 0, stdout: 'ok\n' });

  const { stdout } = await command(project, ['logs']);
  const said = prints(stdout);
  expect(said.filter((one) => one.startsWith('main '))).toEqual([
    'main first',
    'main second',
    'main third',
    'main before',
    'main after',
  ]);
  expect(said.filter((one) => !one.startsWith('main '))).toEqual(['main_work1 hello']);
  expect((await command(project, ['logs', '-f'])).stdout).toBe(stdout);
});

test('--agent shows one agent, and an unknown one is an error that helps', async () => {
  const project = newProject({ ...CREW, go: '' });
  expect(await command(project, ['.', '--workflow-id', 'crew'])).toMatchObject({ code: 0 });
  const { stdout } = await command(project, ['logs', '--agent', 'main_work1']);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.split(/ +/)[1])).toEqual(lines.map(() => 'main_work1'));
  expect(stdout).toContain('forked by main at WORK.sh (item=a)');
  expect(stdout).toContain('| hello');
  const events = (await command(project, ['logs', '--json', '--agent', 'main_work1'])).stdout;
  const agents = events
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).agent);
  expect(new Set(agents)).toEqual(new Set(['main_work1']));
  const wrong = await command(project, ['logs', '--agent', 'main_work']);
  expect(wrong).toMatchObject({ code: 64, stdout: '' });
  expect(wrong.stderr).toContain('The run has no agent main_work.');
  expect(wrong.stderr).toContain('Did you mean main_work1?');
});

test('a long print is cut, and hostile ones cannot act', async () => {
  const project = newProject({
    'START.sh': [
      `printf '<print>\\033]0;title\\007\\n12:00:00 run    forged</print>'`,
      `printf '<print>%05000d</print><result>x</result>' 7`,
    ].join('\n'),
  });
  expect(await command(project, ['.', '--workflow-id', 'long'])).toMatchObject({ code: 0 });
  const { stdout } = await command(project, ['logs']);
  expect(stdout).toContain('| \\x1b]0;title\\x07');
  expect(stdout).not.toMatch(/^12:00:00/m);
  expect(stdout).toMatch(/printed 4\d{3} further characters, which are not kept/);
  expect(JSON.stringify(project.journal('long')).length).toBeLessThan(5_000);
});

test('an old run shows the prints that its records still have', async () => {
  const project = newProject({});
  const journals = join(import.meta.dirname, '../journals/version-1');
  for (const ending of ['json', 'jsonl'])
    project.write(
      `.raymond/state/killed.${ending}`,
      readFileSync(join(journals, `killed.${ending}`), 'utf8'),
    );
  project.write('.raymond/runs/killed/steps/main/1/stdout', '<print>old words</print>');
  const { stdout } = await command(project, ['logs', 'killed']);
  expect(prints(stdout)).toEqual(['main old words']);
});
