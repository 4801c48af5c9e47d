// In the default permission mode, an agent cannot change the files that control it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { suiteAges } from './claude-sandbox.ts';
import { bash, eventsOf, lastPrompt, sandboxes } from './raymond-sandbox.ts';
import type { Reply } from './scripted-model.ts';

const sandbox = sandboxes();

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('an agent can write to its task folder, but not to Raymond’s files or its workflow', async () => {
    let task = '';
    const world = await sandbox({
      age,
      workflow: {
        'START.md': 'Work in {{task_folder}}. Then <goto>DEPLOY</goto>.',
        'DEPLOY.sh': 'echo "<result>old</result>"',
      },
      script: (request, turn) => {
        task = /Work in (\S+)\./.exec(lastPrompt(request))?.[1] ?? task;
        return replies()[turn] ?? '<result>tried</result>';
      },
    });
    const { file, run } = world;
    const write = (name: string): Reply => ({
      content: [
        {
          type: 'tool_use',
          name: 'Write',
          input: { file_path: resolve(file('.'), name), content: 'new' },
        },
      ],
    });
    const replies = () => [
      ...['config2.toml', 'state/r2.jsonl', 'runs/r/inbox/1.json', 'runs/r/steps/x'].map((name) =>
        write(`.raymond/${name}`),
      ),
      bash('echo new > .raymond/config.toml'),
      bash('touch .raymond/runs/r/inbox/2.json'),
      bash('cp workflow/START.md workflow/DEPLOY.sh'),
      bash('sed -i s/old/new/ workflow/DEPLOY.sh'),
      write(`${task}/note`),
      bash(`touch ${task}/touched`),
      write('workflow/other.txt'),
      write('result.txt'),
    ];
    await mkdir(file('.raymond'), { mode: 0o700 });
    await writeFile(file('.raymond/config.toml'), '[raymond]\n', { mode: 0o600 });
    expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 0 });

    const made = ['config2.toml', 'state/r2.jsonl', 'runs/r/inbox/1.json', 'runs/r/inbox/2.json'];
    expect(made.filter((name) => existsSync(file(`.raymond/${name}`)))).toEqual([]);
    expect(existsSync(file('.raymond/runs/r/steps/x'))).toBe(false);
    expect(readFileSync(file('.raymond/config.toml'), 'utf8')).toBe('[raymond]\n');
    expect(readFileSync(file('workflow/DEPLOY.sh'), 'utf8')).toContain('old');
    const allowed = [`${task}/note`, `${task}/touched`, 'workflow/other.txt', 'result.txt'];
    expect(task).not.toContain(file('.'));
    expect(allowed.filter((name) => !existsSync(resolve(file('.'), name)))).toEqual([]);
    expect(eventsOf(world.journal('r'), 'run-ended')).toMatchObject([{ outcome: 'completed' }]);
  });

  test('an agent can change its own worktree under .raymond, but nothing else there', async () => {
    const world = await sandbox({
      age,
      workflow: {
        'START.sh': `echo '<fork worktree="x">WORK</fork><join>AFTER</join>'`,
        'WORK.md': 'Work in your worktree.',
        'AFTER.md': 'Look from outside.',
      },
      script: (_, turn) => replies()[turn] ?? '<result>done</result>',
    });
    const { file, run, claude } = world;
    const tree = '.raymond/worktrees/r/main_work1';
    const write = (name: string): Reply => ({
      content: [
        { type: 'tool_use', name: 'Write', input: { file_path: file(name), content: 'new' } },
      ],
    });
    const edit = (name: string): Reply => ({
      content: [
        { type: 'tool_use', name: 'Read', input: { file_path: file(name) } },
        {
          type: 'tool_use',
          name: 'Edit',
          input: { file_path: file(name), old_string: 'old', new_string: 'new' },
        },
      ],
    });
    const replies = () => [
      write(`${tree}/made.txt`),
      edit(`${tree}/file.txt`),
      bash('touch touched.txt'),
      write('.raymond/state/evil.jsonl'),
      write('.raymond/config.toml'),
      write('.raymond/runs/r/inbox/1.json'),
      '<result>worked</result>',
      write(`${tree}/from-outside.txt`),
      '<result>done</result>',
    ];
    await writeFile(file('file.txt'), 'old');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
        cwd: claude.work,
      });
    git('init', '-q');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 0 });

    expect(readFileSync(file(`${tree}/made.txt`), 'utf8')).toBe('new');
    expect(readFileSync(file(`${tree}/file.txt`), 'utf8')).toBe('new');
    expect(existsSync(file(`${tree}/touched.txt`))).toBe(true);
    expect(readFileSync(file('file.txt'), 'utf8')).toBe('old');
    const refused = ['state/evil.jsonl', 'config.toml', 'runs/r/inbox/1.json'];
    expect(refused.filter((name) => existsSync(file(`.raymond/${name}`)))).toEqual([]);
    expect(existsSync(file(`${tree}/from-outside.txt`))).toBe(false);
    expect(eventsOf(world.journal('r'), 'join-reported')).toMatchObject([
      { input: expect.stringContaining('"branch":"raymond/r/x","commits":0,"dirty":true') },
    ]);
  });

  test('an agent cannot read the key of the user', async () => {
    const world = await sandbox({
      age,
      workflow: { 'START.md': 'Look around.' },
      script: (_, turn) => replies()[turn] ?? '<result>looked</result>',
    });
    const folder = join(world.claude.environment.HOME ?? '', '.local/state/raymond');
    const read = (path: string): Reply => ({
      content: [{ type: 'tool_use', name: 'Read', input: { file_path: path } }],
    });
    const replies = () => [
      read(join(folder, 'key')),
      bash(`cat ${folder}/key`),
      bash(`cp ${folder}/key stolen`),
      bash('cat result.txt'),
    ];
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(world.file('result.txt'), 'may be read');
    // Everything in the folder is allowed, apart from what Raymond denies.
    expect(await world.run('workflow', '--add-dir', folder)).toMatchObject({ code: 0 });
    const said = JSON.stringify(world.model.requests);
    expect(said).toContain('may be read');
    expect(said).not.toContain(readFileSync(join(folder, 'key'), 'utf8').trim());
    expect(existsSync(world.file('stolen'))).toBe(false);
  });

  test('the tools that a state allows or forbids apply only in that state', async () => {
    const { run, file } = await sandbox({
      age,
      workflow: {
        'START.md': '---\nallowed_tools: ["Bash(bash -c:*)"]\n---\nDo one.',
        'TWO.md': '---\ndisallowed_tools: [Write]\n---\nDo two.',
      },
      script: [
        bash('bash -c "touch one"'),
        '<goto>TWO</goto>',
        bash('bash -c "touch two"'),
        {
          content: [
            { type: 'tool_use', name: 'Write', input: { file_path: 'three', content: 'x' } },
          ],
        },
        '<result>tried</result>',
      ],
    });
    expect(await run('workflow')).toMatchObject({ code: 0 });
    expect(['one', 'two', 'three'].filter((name) => existsSync(file(name)))).toEqual(['one']);
  });
});
