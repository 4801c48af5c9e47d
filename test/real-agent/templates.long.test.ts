// Templates as they are: the real Claude Code works with git, and a scripted model says what it does.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BIN } from '../raymond.ts';
import { suiteAges } from './claude-sandbox.ts';
import { history } from './model-request.ts';
import { allowBash, bash, eventsOf, type RaymondWorld, sandboxes } from './raymond-sandbox.ts';
import type { Reply, Script } from './scripted-model.ts';

const sandbox = sandboxes();

/** The template as `workflow`, in a repository with these files. */
async function played(
  template: string,
  files: Readonly<Record<string, string>>,
  { age, script }: Pick<RaymondWorld, 'age' | 'script'>,
) {
  const folder = join(import.meta.dirname, '../../templates', template);
  const workflow = Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
  const PATH = `${commandFolder()}${delimiter}${process.env.PATH}`;
  const made = await sandbox({ age, workflow, script, environment: { PATH } });
  await allowBash(made.claude);
  for (const [name, text] of Object.entries(files)) writeFileSync(made.file(name), text);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: made.claude.work, encoding: 'utf8' }).trim();
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'x');
  git('config', 'user.email', 'x@x');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  return { ...made, git };
}

/** Scripts call `raymond tag`. */
function commandFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const command = `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`;
  writeFileSync(join(folder, 'raymond'), command, { mode: 0o755 });
  return folder;
}

/** Gives the next reply to the newest prompt that has one of these texts. Tools are used in between. */
function acting(plan: Readonly<Record<string, readonly Reply[]>>): Script {
  return (request) => {
    const messages = history(request);
    const isPrompt = ({ role, text }: { role: string; text: string }) =>
      role === 'user' && Object.keys(plan).some((part) => text.includes(part));
    const at = messages.findLastIndex(isPrompt);
    const [, replies = []] =
      Object.entries(plan).find(([part]) => messages[at]?.text.includes(part)) ?? [];
    const reply = replies[messages.slice(at).filter(({ role }) => role === 'assistant').length];
    if (reply === undefined) throw new Error(`No reply to: ${messages.at(-1)?.text}`);
    return reply;
  };
}

const commit = (text: string) =>
  bash(`echo ${text} >title.txt && git commit -q -a -m 'Write ${text}'`);

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('parallel-fixes: children in worktrees, a join, a conflict, and a merge', async () => {
    const script = acting({
      'Write one': [commit('one'), '<result>wrote one</result>'],
      'Write two': [bash('echo two >title.txt'), '<result>wrote two</result>'],
      'Your worktree has uncommitted changes': [commit('two'), '<result>committed two</result>'],
      'stopped at a conflict': [
        bash("printf 'one\\ntwo\\n' >title.txt && git commit -q -a --no-edit"),
        '<goto>MERGE</goto>',
      ],
      'The branches of the child agents are merged': [
        bash("sed -i 's/\\[ \\]/[x]/' TODO.md && git commit -q -a -m 'Tick off'"),
        '<result>both are done</result>',
      ],
    });
    const todo = '- [ ] Write one\n- [ ] Write two\n';
    const files = { 'TODO.md': todo, 'title.txt': 'none\n' };
    const { run, git, journal, file } = await played('parallel-fixes', files, { age, script });
    const options = ['--workflow-id', 'fixes', '--set', 'test_command=test -s title.txt'];
    const { code, stdout, stderr } = await run('workflow', ...options);
    expect([code, stdout], stderr).toEqual([0, 'both are done\n']);

    expect(readFileSync(file('title.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(readFileSync(file('TODO.md'), 'utf8')).toBe(todo.replaceAll('[ ]', '[x]'));
    expect(git('log', '--format=%s', '--no-merges').split('\n').sort()).toEqual([
      'Tick off',
      'Write one',
      'Write two',
      'first',
    ]);
    const [joined] = eventsOf(journal('fixes'), 'join-reported');
    expect(JSON.parse(joined?.input ?? '')).toMatchObject([
      { status: 'ended', result: 'wrote one', branch: 'raymond/fixes/main_fix1', commits: 1 },
      { status: 'ended', result: 'committed two', branch: 'raymond/fixes/main_fix2', commits: 1 },
    ]);
    const [reminder, ...more] = eventsOf(journal('fixes'), 'agent-reminded');
    expect([reminder?.agent, more]).toEqual(['main_fix2', []]);

    expect((await run('prune', 'fixes')).code).toBe(0);
    expect(git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(git('branch', '--format=%(refname:short)')).toBe('main');
  });

  test('test-until-green: the tests decide, then a reviewer without the history', async () => {
    const script = acting({
      'Make the door green': [
        bash('echo red >door'),
        'It is done. <function return="DECIDE">REVIEW</function>',
      ],
      'The tests must pass before the review': [
        bash('echo green >door'),
        '<function return="DECIDE">REVIEW</function>',
      ],
      'You see this change for the first time': ['<result>APPROVED</result>'],
      'The review of your work says': ['<result>The door was red.</result>'],
    });
    const { run, journal, model } = await played(
      'test-until-green',
      { door: 'none\n' },
      { age, script },
    );
    const input = ['--input', 'Make the door green.', '--workflow-id', 'green'];
    const check = 'grep green door || { echo The door is not green; exit 4; }';
    const ended = await run('workflow', ...input, '--set', `test_command=${check}`);
    expect([ended.code, ended.stdout], ended.stderr).toEqual([0, 'The door was red.\n']);

    const exits = eventsOf(journal('green'), 'step-ended').flatMap(({ exit }) => exit ?? []);
    expect(exits).toEqual([4, 0, 0]);
    const texts = model.requests.map((request) => history(request).map(({ text }) => text));
    const reviewed = texts.find(([first]) => first?.includes('You see this change')) ?? [];
    expect(reviewed).toHaveLength(1);
    // The caller continues its conversation, with the reminder in it.
    const decided = texts.at(-1)?.join('\n') ?? '';
    expect(decided).toMatch(/Make the door green.*The door is not green.*APPROVED/s);
  });
});
