// In the default permission mode, an agent cannot change the files that control it.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { ages } from './claude-sandbox.ts';
import { bash, eventsOf, sandboxes } from './raymond-sandbox.ts';
import type { Reply } from './scripted-model.ts';

const sandbox = sandboxes();

describe.each(ages)('with the %s Claude Code', (age) => {
  test('an agent can write to its task folder, but not to Raymond’s files or its workflow', async () => {
    const world = await sandbox({
      age,
      workflow: {
        'START.md': 'Work in {{task_folder}}.',
        'DEPLOY.sh': 'echo "<result>old</result>"',
      },
      script: (_, turn) => replies()[turn] ?? '<result>tried</result>',
    });
    const { file, run } = world;
    const write = (name: string): Reply => ({
      content: [
        { type: 'tool_use', name: 'Write', input: { file_path: file(name), content: 'new' } },
      ],
    });
    const task = '.raymond/runs/r/tasks/main';
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
    expect(allowed.filter((name) => !existsSync(file(name)))).toEqual([]);
    expect(eventsOf(world.journal('r'), 'run-ended')).toMatchObject([{ outcome: 'completed' }]);
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
