// A rewind that is killed: at each call of git, before and after git has done its work.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const GIT = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

/** A git that kills the process that starts it, at the call of this number. */
const KILLER = `#!/bin/sh
echo >>"$CALLS"
if [ "$(wc -l <"$CALLS")" -eq "$KILL_AT" ]; then
  [ "$KILL_WHEN" = before ] && { kill -9 $PPID; exit 1; }
  ${GIT} "$@"
  kill -9 $PPID
  exit 1
fi
exec ${GIT} "$@"
`;

/** The first calls only look. Most of the others change something. */
const MOMENTS = process.env.RAYMOND_TEST_LONG
  ? Array.from({ length: 20 }, (_, n) => n + 1)
  : [5, 8, 12];

/** The least number of calls of git in a rewind of one working tree. */
const FEWEST_CALLS = 12;

test.each(
  MOMENTS.flatMap((at) => [
    { at, when: 'before' },
    { at, when: 'after' },
  ]),
)(
  'killed $when call $at of git, it has not begun, or the next resume finishes it',
  async ({ at, when }) => {
    const project = newProject({
      'w/START.sh': `echo 1 >a.txt; rm -f b.txt; echo '<goto>NEXT</goto>'`,
      // The result tells which files the step found.
      'w/NEXT.sh': `found="$(cat a.txt) $(ls b.txt 2>/dev/null)"
echo 2 >a.txt; echo 2 >b.txt
echo "<result>$found</result>"`,
      'bin/git': KILLER,
    });
    chmodSync(project.path('bin/git'), 0o755);
    writeFileSync(project.path('.gitignore'), 'calls\n');
    execFileSync(GIT, ['-C', project.folder, 'init', '-q']);
    const raymond = (...args: string[]) => command(project, args);
    await raymond('w', '--workflow-id', 'r', '--checkpoints', 'steps', '--quiet');
    const killed = await project.run(['rewind', 'r', '--to', 'main:2', '--yes'], {
      env: {
        PATH: `${project.path('bin')}:${project.environment.PATH}`,
        CALLS: project.path('calls'),
        KILL_AT: String(at),
        KILL_WHEN: when,
      },
    });
    const isRewound = project.journal('r').some(({ type }) => type === 'run-rewound');
    if (!isRewound) expect([project.read('a.txt'), project.read('b.txt')]).toEqual(['2\n', '2\n']);
    const isKilled = killed.signal === 'SIGKILL';
    if (at <= FEWEST_CALLS) expect(isKilled).toBe(true);
    if (!isKilled) expect(project.read('a.txt')).toBe('1\n');
    expect(await raymond('resume', 'r', '--quiet')).toMatchObject({ code: 0, stdout: '1 \n' });
    expect([project.read('a.txt'), project.read('b.txt')]).toEqual(['2\n', '2\n']);
    const steps = project.journal('r').filter(({ type }) => type === 'step-started');
    expect(steps).toHaveLength(isRewound ? 3 : 2);
    const { code } = await raymond('rewind', 'r', '--to', 'main:1', '--yes');
    expect(code).toBe(0);
  },
);

/** A git that dies while it makes a worktree, together with Raymond, which is the parent of its wrapper. */
const HALF = `#!/bin/sh
case " $* " in *" worktree add "*) ;; *) exec ${GIT} "$@" ;; esac
mkdir -p "$TREE"; echo half >"$TREE/half"
kill -9 $(ps -o ppid= -p $PPID)
exit 1
`;

test('a rewind makes a worktree of which a killed rewind has left a part', async () => {
  const project = newProject({
    'w/START.sh': `echo '<fork worktree="tree">WORK</fork><join>LAST</join>'`,
    'w/WORK.sh': `echo '<result>clean</result>'`,
    'w/LAST.sh': `echo '<result>done</result>'`,
    'bin/git': HALF,
  });
  chmodSync(project.path('bin/git'), 0o755);
  const git = (...args: string[]) => execFileSync(GIT, ['-C', project.folder, ...args]);
  git('init', '-q');
  git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', '--allow-empty', '-m', 'first');
  await command(project, ['w', '--workflow-id', 'r', '--checkpoints', 'steps', '--quiet']);
  const rewind = ['rewind', 'r', '--to', 'main_work1:1', '--yes'];
  const tree = project.path('.raymond/worktrees/r/main_work1');
  expect(existsSync(tree)).toBe(false);
  const killed = await project.run(rewind, {
    env: { PATH: `${project.path('bin')}:${project.environment.PATH}`, TREE: tree },
  });
  expect({ ...killed, half: existsSync(join(tree, 'half')) }).toMatchObject({
    signal: 'SIGKILL',
    half: true,
  });
  expect(await command(project, rewind)).toMatchObject({ code: 0 });
  expect(existsSync(join(tree, 'half'))).toBe(false);
});
