/**
 * The template `parallel-fixes` as it is, with real git: children in worktrees, a join, merges and a
 * conflict. A shell script plays the agent. Everything that happens is asserted.
 */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/model/event.ts';
import { git, templateProject } from './template-project.ts';

const TODO = `# To do
- [ ] Write "one" & <two>
- [x] This is done
- [ ] Write three
- [ ] Add notes
- [ ] Do nothing
- [ ] Be stubborn
`;

const agent = (onConflict: string) => `prompt=$(cat)
folder=$(sed -n 's,.*\`\\([^\`]*\\)/left-out.txt\`.*,\\1,p' <<<"$prompt" | head -n 1)
write() { echo "$1" >title.txt; git commit -q -a -m "Write $1"; echo "<result>wrote $1</result>"; }
case $prompt in
*'Not all child agents have finished'*)
  echo 'Be stubborn: it did not commit' >"$folder/left-out.txt"; echo '<goto>MERGE</goto>' ;;
*'Write "one" & <two>'*) write one ;;
*'Write three'*) write three ;;
*'Add notes'*) echo notes >notes.txt; echo '<result>added notes</result>' ;;
*'Do nothing'*) echo '<result>not done: nothing to do</result>' ;;
*'Be stubborn'*) echo draft >draft.txt; echo '<result>stubborn</result>' ;;
*'has uncommitted changes'*)
  if [ -e notes.txt ]; then git add notes.txt; git commit -q -m 'Add notes'; fi
  echo '<result>committed now</result>' ;;
*'stopped at a conflict'*)
  ${onConflict}
  echo '<goto>MERGE</goto>' ;;
*'branches of the child agents are merged'*)
  sed -i.bak -e '/stubborn/!s/- \\[ \\]/- [x]/' TODO.md; rm TODO.md.bak; git commit -q -a -m 'Tick off'
  echo '<result>four items are done</result>' ;;
*) echo "no answer to: $prompt" >&2 ;;
esac`;

const RESOLVE = `sed -i.bak '/^[<=>]/d' title.txt; rm title.txt.bak; git commit -q -a --no-edit`;

async function dispatcher(files: Readonly<Record<string, string>>, onConflict = RESOLVE) {
  const made = await templateProject(
    'parallel-fixes',
    { 'title.txt': 'untitled\n', ...files },
    agent(onConflict),
  );
  const options = ['--workflow-id', 'fixes', '--set', 'test_command=test -s title.txt'];
  return { ...made, run: () => made.raymond('flow', ...options) };
}

test('each open item has a child, and everything that succeeds is merged', async () => {
  const { project, claude, run } = await dispatcher({ 'TODO.md': TODO });
  const { code, stdout, stderr } = await run();
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: 'four items are done\n' });

  const events = project.journal('fixes');
  const joins = events.flatMap((event) => (event.type === 'join-reported' ? [event] : []));
  expect(joins).toMatchObject([{ agent: 'main', why: 'failed', state: 'FAILED.md' }]);
  const branch = (n: number) => `raymond/fixes/main_fix${n}`;
  expect(JSON.parse(joins[0]?.input ?? '')).toMatchObject([
    { agent: 'main_fix1', status: 'ended', branch: branch(1), commits: 1, dirty: false },
    { agent: 'main_fix2', status: 'ended', branch: branch(2), commits: 1, dirty: false },
    { agent: 'main_fix3', status: 'ended', branch: branch(3), commits: 1, dirty: false },
    { agent: 'main_fix4', status: 'ended', branch: null },
    { agent: 'main_fix5', status: 'failed', branch: branch(5), commits: 0, dirty: true },
  ]);
  expect(movesOfMain(events)).toEqual(['MERGE.sh', 'CONFLICT.md', 'MERGE.sh', 'FINISH.md']);
  const reminded = events.flatMap((event) => (event.type === 'agent-reminded' ? [event] : []));
  expect(reminded.map(({ agent }) => agent).sort()).toEqual([
    'main_fix3',
    ...Array<string>(3).fill('main_fix5'),
  ]);
  expect(claude.entries('prompt')).toHaveLength(12);

  const shown = JSON.parse((await project.run(['show', 'fixes', '--json'])).stdout);
  expect(shown).toMatchObject({ condition: 'completed', cost_usd: 1.5 });
  const children = [...shown.agents]
    .filter(({ parent }) => parent === 'main')
    .map(({ variables: { task }, status, worktree: { fate, commits, dirty } }) => ({
      task,
      status: status.kind,
      result: status.result?.text ?? null,
      tree: `${fate}, ${commits} ahead${dirty ? ', dirty' : ''}`,
    }));
  const ended = { status: 'ended' };
  expect(children).toEqual([
    { ...ended, task: 'Write "one" & <two>', result: 'wrote one', tree: 'kept, 1 ahead' },
    { ...ended, task: 'Write three', result: 'wrote three', tree: 'kept, 1 ahead' },
    { ...ended, task: 'Add notes', result: 'committed now', tree: 'kept, 1 ahead' },
    {
      ...ended,
      task: 'Do nothing',
      result: 'not done: nothing to do',
      tree: 'removed, 0 ahead',
    },
    { status: 'failed', task: 'Be stubborn', result: null, tree: 'kept, 0 ahead, dirty' },
  ]);

  expect(project.read('title.txt')).toBe('one\nthree\n');
  expect(project.read('notes.txt')).toBe('notes\n');
  expect(existsSync(project.path('draft.txt'))).toBe(false);
  expect(project.read('TODO.md')).toBe(
    TODO.replaceAll('[ ]', '[x]').replace('[x] Be stubborn', '[ ] Be stubborn'),
  );
  expect(git(project, 'branch', '--show-current')).toBe('main');
  expect(git(project, 'status', '--porcelain', '-uno')).toBe('');
  expect(git(project, 'log', '--merges', '--format=%s').split('\n')).toEqual([
    "Merge branch 'raymond/fixes/main_fix3'",
    "Merge branch 'raymond/fixes/main_fix2'",
  ]);

  const pruned = await project.run(['prune', 'fixes']);
  const tree = (agent: string) => project.path('.raymond/worktrees/fixes', agent);
  for (const agent of ['main_fix1', 'main_fix2', 'main_fix3']) {
    expect(pruned.stdout + pruned.stderr).toContain(`removed the worktree ${tree(agent)}`);
    expect(existsSync(tree(agent))).toBe(false);
  }
  expect(project.read('.raymond/worktrees/fixes/main_fix5/draft.txt')).toBe('draft\n');
});

test('a branch that contradicts another one is left out, and the rest is merged', async () => {
  const abort = `git merge --abort
  echo 'raymond/fixes/main_fix2: contradicts' >>"$folder/left-out.txt"`;
  const todo = '- [ ] Write "one" & <two>\n- [ ] Write three\n- [ ] Add notes\n';
  const { project, run } = await dispatcher({ 'TODO.md': todo }, abort);
  expect(await run()).toMatchObject({ code: 0, stdout: 'four items are done\n' });
  expect(movesOfMain(project.journal('fixes'))).toEqual(['CONFLICT.md', 'MERGE.sh', 'FINISH.md']);
  expect(project.read('title.txt')).toBe('one\n');
  expect(project.read('notes.txt')).toBe('notes\n');
  expect(git(project, 'branch', '--no-merged', 'HEAD', '--format=%(refname:short)')).toBe(
    'raymond/fixes/main_fix2',
  );
});

test.each([
  ['no open item', { 'TODO.md': '- [x] done\n' }, {}, 'TODO.md has no open item.\n'],
  ['no TODO.md', {}, {}, 'TODO.md has no open item.\n'],
  [
    'uncommitted changes',
    { 'TODO.md': TODO },
    { 'title.txt': 'mine\n' },
    'Commit or remove your changes first.\n',
  ],
])('%s: no child starts, and nothing changes', async (_, files, changes, stdout) => {
  const { project, claude, run } = await dispatcher(files);
  for (const [path, text] of Object.entries(changes)) project.write(path, text);
  const before = git(project, 'status', '--porcelain', '-uno');
  expect(await run()).toMatchObject({ code: 0, stdout });
  expect(existsSync(claude.log)).toBe(false);
  expect(git(project, 'status', '--porcelain', '-uno')).toBe(before);
  expect(git(project, 'branch', '--format=%(refname:short)')).toBe('main');
});

/** The states to which the first agent moved after the join. */
function movesOfMain(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'agent-moved' && event.agent === 'main' ? [event.state] : [],
  );
}
