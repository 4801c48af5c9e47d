// Raymond is killed while it makes, looks at or removes a worktree. A resume neither loses nor doubles
// one. A program in front of git kills it, at the moment that the environment names.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { inSuite } from '../long.ts';
import { newProject } from '../new-project.ts';

const REAL_GIT = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

/** The journal names the process that took the newest step. */
const KILL_RAYMOND = `kill -9 "$(grep -o '"worker":"[^"]*' "$PLACE/project/.raymond/state/one.jsonl" | tail -n 1 | sed 's/.*://')"`;

/** Kills Raymond once, before or after a call of git whose arguments contain FAULT. */
const GIT_WITH_FAULT = `#!/bin/bash
hit=
case " $* " in *" $FAULT "*) mkdir "$PLACE/hit" 2>/dev/null && hit=1 ;; esac
[ "$hit" ] && [ "$WHEN" = before ] && ${KILL_RAYMOND}
${REAL_GIT} "$@"
code=$?
[ "$hit" ] && [ "$WHEN" = after ] && ${KILL_RAYMOND}
exit $code
`;

/** Runs while git writes the files of a worktree. */
const SLOW_FILTER = `#!/bin/bash
[ "$FAULT" = filter ] && mkdir "$PLACE/hit" 2>/dev/null && {
  ${KILL_RAYMOND}
  if [ "$WHEN" = both ]; then
    parent=$(ps -o ppid= -p $PPID)
    kill -9 $PPID $parent
    exit 1
  fi
  until [ -e "$PLACE/continue" ]; do sleep 0.02; done
}
cat
`;

const FLOW = {
  'file.txt': 'one\n',
  '.gitattributes': 'file.txt filter=slow\n',
  'flow/START.sh': `echo '<fork worktree="clean">CLEAN</fork><fork worktree="work">WORK</fork><join>MERGE</join>'`,
  'flow/CLEAN.sh': `cat file.txt >&2; echo '<result></result>'`,
  'flow/WORK.sh': `echo done >>file.txt; git commit -q -a -m work; echo '<result></result>'`,
  'flow/MERGE.sh': `git merge -q raymond/one/work >&2; echo "<result>$(cat file.txt)</result>"`,
};

function crashing(fault: string, when: string, flow: Readonly<Record<string, string>> = FLOW) {
  const project = newProject(flow);
  const place = join(project.folder, '..');
  for (const [name, text] of [
    ['git', GIT_WITH_FAULT],
    ['slow', SLOW_FILTER],
  ] as const) {
    writeFileSync(join(place, name), text);
    chmodSync(join(place, name), 0o755);
  }
  const config = `[user]\nname = x\nemail = x@x\n[filter "slow"]\nsmudge = ${join(place, 'slow')}\nclean = cat\n`;
  writeFileSync(join(place, '.gitconfig'), config);
  const env = {
    PATH: `${place}${delimiter}${process.env.PATH}`,
    HOME: place,
    PLACE: place,
    FAULT: fault,
    WHEN: when,
  };
  const git = (...args: string[]) =>
    execFileSync(REAL_GIT, args, {
      cwd: project.folder,
      env: { ...process.env, ...env, FAULT: 'none' },
      encoding: 'utf8',
    }).trim();
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  return { project, place, env, git };
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

/** One worktree with its branch is left, and each child has ended once. */
function expectOneWorktree({ project, git }: ReturnType<typeof crashing>) {
  expect(lines(git('worktree', 'list'))).toHaveLength(2);
  expect(lines(git('branch', '--list', 'raymond/*'))).toEqual(['+ raymond/one/work']);
  expect(lines(git('log', '--format=%s', 'raymond/one/work'))).toEqual(['work', 'first']);
  const ends = project.journal('one').filter(({ type }) => type === 'agent-ended');
  expect(ends.map((event) => 'agent' in event && event.agent).sort()).toEqual([
    'main',
    'main_clean1',
    'main_work2',
  ]);
  const joins = project.journal('one').flatMap((e) => (e.type === 'join-reported' ? [e] : []));
  expect(joins).toHaveLength(1);
  expect(JSON.parse(joins[0]?.input ?? '')).toMatchObject([
    { agent: 'main_clean1', branch: null, commits: 0, dirty: false },
    { agent: 'main_work2', branch: 'raymond/one/work', commits: 1, dirty: false },
  ]);
}

/** In the suite, each call of git on one side, and the one that makes a worktree on all. */
const KILLS = inSuite<readonly [fault: string, when: string]>(
  [
    ['for-each-ref', 'before'],
    ['worktree add', 'before'],
    ['worktree add', 'after'],
    ['filter', 'both'],
    ['status', 'after'],
    ['worktree remove', 'before'],
    ['update-ref', 'after'],
  ],
  [
    ['status', 'before'],
    ['worktree remove', 'after'],
    ['update-ref', 'before'],
  ],
);

test.each(KILLS)('killed at git %s (%s)', async (fault, when) => {
  const world = crashing(fault, when);
  const { project, place, env } = world;
  const killed = await project.run(['flow', '--workflow-id', 'one'], { env });
  expect(existsSync(join(place, 'hit'))).toBe(true);
  expect(killed.signal).toBe('SIGKILL');
  expect(await project.run(['resume', 'one'], { env })).toMatchObject({
    code: 0,
    stdout: 'one\ndone\n',
  });
  expectOneWorktree(world);
});

test('killed while git works: the resume waits for this git and uses its worktree', async () => {
  const world = crashing('filter', 'raymond');
  const { project, place, env } = world;
  expect(await project.run(['flow', '--workflow-id', 'one'], { env })).toMatchObject({
    signal: 'SIGKILL',
  });
  const resumed = project.start(['resume', 'one'], { env });
  await eventually('it resumes', () =>
    project.journal('one').some(({ type }) => type === 'run-resumed'),
  );
  writeFileSync(join(place, 'continue'), '');
  expect(await resumed.ended).toMatchObject({ code: 0, stdout: 'one\ndone\n' });
  expectOneWorktree(world);
});

test('a step that has not begun does not run in a folder that is no worktree', async () => {
  const { project, env } = crashing('refs/heads/raymond/one/work', 'before', {
    ...FLOW,
    'flow/START.sh': `echo '<fork worktree="work">WORK</fork><join>MERGE</join>'`,
  });
  await project.run(['flow', '--workflow-id', 'one'], { env });
  const notes = '.raymond/worktrees/one/main_work1/notes.txt';
  project.write(notes, 'of a person');
  const resumed = await project.run(['resume', 'one'], { env });
  expect(resumed.stderr).toContain('exists, but it is not a worktree');
  expect(project.read(notes)).toBe('of a person');
});
