/** Raymond names workflow files that change during a run, and uses them only after they were accepted. */
import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { writeZip } from '../zip-writer.ts';

const EVIL = `echo evil >>ran; echo '<result>evil</result>'`;
const GOOD = `echo good >>ran; echo '<result>good</result>'`;

/** The first step changes the workflow, as an agent with a shell or an edit tool can. */
const FLOW = {
  'flow/START.sh': `[ -e done ] || cat evil >"$target"; touch done; echo '<goto>NEXT</goto>'`,
  'flow/NEXT.sh': GOOD,
  'flow/SPARE.md': 'Work.',
  evil: EVIL,
};

const attacked = (target: string) => ({
  ...FLOW,
  'flow/START.sh': FLOW['flow/START.sh'].replace('$target', target),
});

const files: readonly [string, () => ReturnType<typeof newProject>, string][] = [
  ['of a folder', () => newProject(attacked('flow/NEXT.sh')), 'flow'],
  [
    'of a YAML file',
    () =>
      newProject({
        'flow.yaml': `states:
  START:
    sh: |
      cat evil >"$(dirname "$0")/NEXT.sh"; echo '<goto>NEXT</goto>'
  NEXT:
    sh: |
      ${GOOD}
`,
        evil: EVIL,
      }),
    'flow.yaml',
  ],
  [
    'of an archive',
    () => {
      const project = newProject({ evil: EVIL });
      const start = `cat evil >"$(dirname "$0")/NEXT.sh"; echo '<goto>NEXT</goto>'`;
      project.write(
        'flow.zip',
        writeZip([
          { name: 'START.sh', content: start },
          { name: 'NEXT.sh', content: GOOD },
        ]),
      );
      return project;
    },
    'flow.zip',
  ],
  [
    'of a workflow that was entered',
    () =>
      newProject({
        ...attacked('flow/NEXT.sh'),
        'outer/START.sh': `echo '<call-workflow return="END">../flow</call-workflow>'`,
        'outer/END.sh': GOOD,
      }),
    'outer',
  ],
];

test.each(files)('a script %s that a step has changed is not executed', async (_, make, path) => {
  const project = make();
  const { code, stderr } = await command(project, [path, '--workflow-id', 'r']);
  expect(code).toBe(1);
  expect(stderr).toContain(
    'NEXT.sh was changed after the run had read it, so it was not executed.',
  );
  expect(stderr).toContain('raymond resume r --accept-changes');
  expect(project.lines('ran')).toEqual([]);
  expect(project.journal('r')).toContainEqual(
    expect.objectContaining({
      type: 'agent-failed',
      failure: expect.objectContaining({ kind: 'changed-script' }),
    }),
  );
});

describe('a resume', () => {
  const stopped = async (target: string) => {
    const project = newProject(attacked(target));
    expect(
      await command(project, ['flow', '--workflow-id', 'r', '--max-iterations', '1']),
    ).toMatchObject({ code: 3 });
    return project;
  };
  const resume = ['resume', 'r', '--max-iterations', '0'];

  test('names a script that was changed, and executes nothing', async () => {
    const project = await stopped('flow/NEXT.sh');
    const journal = project.journal('r');
    const refused = await command(project, resume);
    expect(refused).toMatchObject({ code: 64, stdout: '' });
    expect(refused.stderr).toContain(`${project.path('flow')}: NEXT.sh.`);
    expect(refused.stderr).toContain('raymond resume r --accept-changes');
    expect(project.lines('ran')).toEqual([]);
    expect(project.journal('r')).toEqual(journal);
  });

  test.each([
    ['new script', 'flow/NEW.sh'],
    ['prompt', 'flow/SPARE.md'],
  ])('asks nothing about a %s that no state reaches', async (_, target) => {
    const project = await stopped(target);
    expect(await command(project, resume)).toMatchObject({ code: 0, stdout: 'good\n' });
  });

  test('uses accepted changes, and does not ask for them again', async () => {
    const project = await stopped('flow/NEXT.sh');
    const accepted = await command(project, [
      ...resume,
      '--accept-changes',
      '--max-iterations',
      '1',
    ]);
    expect(accepted.stderr).toContain(
      `continues with changed files of ${project.path('flow')}: NEXT.sh`,
    );
    expect(await command(project, resume)).toMatchObject({ code: 0, stdout: 'evil\n' });
  });

  test('asks nothing if the file has its old content again, or was removed', async () => {
    const restored = await stopped('flow/NEXT.sh');
    restored.write('flow/NEXT.sh', GOOD);
    rmSync(restored.path('flow/SPARE.md'));
    expect(await command(restored, resume)).toMatchObject({ code: 0, stdout: 'good\n' });
  });

  test('--all skips such a run and continues the others', async () => {
    const project = await stopped('flow/NEXT.sh');
    project.write('other/START.sh', `[ -e cured ] || exit 1; echo '<result>cured</result>'`);
    await command(project, ['other', '--workflow-id', 'zz']);
    project.write('cured', '');
    const all = await command(project, ['resume', '--all', '--max-iterations', '0']);
    expect(all).toMatchObject({ code: 1, stdout: 'cured\n' });
    expect(all.stderr).toContain('Workflow files have changed since r read them.');
    expect(project.lines('ran')).toEqual([]);
  });

  test.runIf(process.platform === 'linux').each([
    ['y', 0, ['evil']],
    ['n', 64, []],
    ['', 64, []],
    ['yikes', 64, []],
  ])('asks at a terminal, and obeys the answer "%s"', async (keys, code, ran) => {
    const project = await stopped('flow/NEXT.sh');
    const terminal = atTerminal(project, resume);
    await eventually('it asks', () => terminal.screen().includes('changed files? [yes/no]'));
    expect(terminal.screen()).toMatch(
      /These files have changed since the run read them:\s+ {2}\S+flow: NEXT\.sh\s/,
    );
    terminal.type(`${keys}\r`);
    expect(await terminal.ended).toBe(code);
    expect(project.lines('ran')).toEqual(ran);
  });
});

test('a step that still runs is adopted after its changed file was accepted', async () => {
  const project = newProject({
    'flow/START.sh': `echo "try $RAYMOND_ATTEMPT" >>tries; until [ -e go ]; do sleep 0.05; done
echo '<result>the old one</result>'`,
  });
  const life = project.start(['flow', '--workflow-id', 'r']);
  await eventually('it has begun', () => project.lines('tries').length === 1);
  life.child.kill('SIGKILL');
  await life.ended;
  const text = project.read('flow/START.sh');
  // A shell reads its script in parts, and keeps the parts that it has read.
  project.write('flow/START.sh', `${text}# changed`);
  expect(await command(project, ['resume', 'r'])).toMatchObject({ code: 64 });
  const next = project.start(['resume', 'r', '--accept-changes']);
  project.write('go', '');
  expect(await next.ended).toMatchObject({ code: 0, stdout: 'the old one\n' });
  expect(project.lines('tries')).toEqual(['try 1']);
});
