import { beforeAll, describe, expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { writeKeptRuns } from '../kept-runs.ts';
import { newProject } from '../new-project.ts';
import { Project } from '../raymond.ts';

const ESCAPE = '\x1b';

describe('a completed, a failed and a waiting run', () => {
  let project: Project;
  const ids = async (...args: readonly string[]) =>
    (await command(project, ['list', '--json', ...args])).stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).id);

  beforeAll(async () => {
    project = new Project({
      'good/START.sh': `echo '<result>fine</result>'`,
      'bad/START.sh': `echo '<fork next="NEXT">BAD</fork><fork>BAD</fork>'`,
      'bad/BAD.sh': 'exit 1',
      'bad/NEXT.sh': `echo '<result>x</result>'`,
      'ask/START.sh': `echo '<ask next="START">which?</ask>'`,
      'join/START.sh': `echo '<fork>BAD</fork><join failed_next="END">END</join>'`,
      'join/BAD.sh': 'exit 1',
      'join/END.sh': `echo '<result>went on</result>'`,
    });
    await project.run(['good', '--workflow-id', 'r-good']);
    await project.run(['bad', '--workflow-id', 'r-bad']);
    await project.run(['ask', '--workflow-id', 'r-ask']);
    await project.run(['join', '--workflow-id', 'r-join', '--input', 'x'.repeat(300)]);
    return () => project.dispose();
  });

  test('the list says what each run is for and what came of it, in aligned columns', async () => {
    const { stdout } = await command(project, ['list']);
    // The width of the age depends on the machine, and takes from the texts that are cut.
    const lines = stdout
      .replace(/ {2,}(?:\d+ (?:s|min))? +/g, '  ')
      .replace(/(BA|x)\w*\.{3}/g, '$1...');
    expect(lines).toBe(
      [
        'RUN  STATUS  AGE  STEPS  COST  WORKFLOW  FOR  OUTCOME',
        'r-good  completed  1  $0.00  good  fine',
        'r-bad  failed  4  $0.00  bad  2 failed: BA...',
        'r-ask  waiting  1  $0.00  ask  1 asks you',
        'r-join  completed  3  $0.00  join  x...  went on',
        '',
      ].join('\n'),
    );
    const [head = '', ...rows] = stdout.trimEnd().split('\n');
    const at = head.indexOf('WORKFLOW');
    expect(rows.map((row) => row.slice(at).split(' ', 1).join())).toEqual([
      'good',
      'bad',
      'ask',
      'join',
    ]);
  });

  test.each([80, 100])('it fits %i columns, and a colour shows the status', async (columns) => {
    const terminal = atTerminal(project, ['list'], { columns });
    expect(await terminal.ended).toBe(0);
    const colours = new RegExp(`${ESCAPE}\\[\\d+m`, 'g');
    const lines = terminal.screen().replace(colours, '').trimEnd().split('\r\n');
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(terminal.screen()).toContain(`r-good  ${ESCAPE}[32mcompleted${ESCAPE}[39m`);
    expect(terminal.screen()).toContain(`r-bad   ${ESCAPE}[31mfailed${ESCAPE}[39m`);
    expect(terminal.screen()).toContain(`r-ask   ${ESCAPE}[33mwaiting${ESCAPE}[39m`);
  });

  test.each([
    [['--status', 'failed'], ['r-bad']],
    [
      ['--status', 'waiting, completed'],
      ['r-good', 'r-ask', 'r-join'],
    ],
    [['--status', 'running'], []],
    [
      ['-n', '2'],
      ['r-ask', 'r-join'],
    ],
    [['-n', '1', '--status', 'completed'], ['r-join']],
  ])('list %j', async (args, expected) => {
    expect(await ids(...args)).toEqual(expected);
  });

  test.each([
    [['--status', 'faild'], 'Did you mean failed?'],
    [['--status', 'zzz'], 'Name one of running,'],
    [['-n', '0'], '"0" is not a number of runs.'],
    [['-n', 'x'], '"x" is not a number of runs.'],
  ])('list %j is an error that helps', async (args, text) => {
    const { code, stderr } = await command(project, ['list', ...args]);
    expect(code).toBe(64);
    expect(stderr).toContain(text);
  });

  test('the JSON has the counts', async () => {
    const { stdout } = await command(project, ['list', '--json', '--status', 'failed']);
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'r-bad',
      status: 'failed',
      condition: 'failed',
      workflow: project.path('bad'),
      agents: { running: 0, waiting: 0, failed: 2, ended: 1, failed_joined: 0 },
      input: null,
      result: { text: 'x', omitted: 0 },
      failure: { text: expect.stringContaining('BAD.sh exited with'), omitted: 0 },
      questions: 0,
      budget_usd: 10,
      own: true,
      pid: null,
    });
  });

  test('the JSON says what a run is for, and counts failures that a join has reported', async () => {
    const { stdout } = await command(project, ['list', '--json', '-n', '1']);
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'r-join',
      status: 'completed',
      agents: { failed: 0, ended: 2, failed_joined: 1 },
      input: { text: 'x'.repeat(240), omitted: 60 },
      result: { text: 'went on', omitted: 0 },
      failure: null,
    });
  });
});

test('a project without a run of this status says so', async () => {
  const project = newProject({});
  writeKeptRuns(project.folder, 2);
  const { code, stdout, stderr } = await command(project, ['list', '--status', 'failed']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('No run of this project has this status.');
});
