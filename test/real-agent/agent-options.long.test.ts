// The user's options for the agent, and Raymond's own rules, which apply in any case.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { suiteAges } from './claude-sandbox.ts';
import { answering, bash, eventsOf, killHard, sandboxes, until } from './raymond-sandbox.ts';
import type { Reply } from './scripted-model.ts';

const sandbox = sandboxes();

const ALLOWED = ['--allowed-tools', 'Bash(bash -c:*)'];

function write(path: string): Reply {
  const input = { file_path: path, content: 'new' };
  return { content: [{ type: 'tool_use', name: 'Write', input }] };
}

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  const threeTurns = () =>
    sandbox({
      age,
      workflow: { 'START.md': 'Do one.', 'TWO.md': 'Do two.', 'THREE.md': 'Do three.' },
      script: [
        bash('bash -c "touch one"'),
        '<goto>TWO</goto>',
        bash('bash -c "touch two"'),
        '<goto>THREE</goto>',
        bash('bash -c "touch three"'),
        '<result>tried</result>',
      ],
    });
  const made = (file: (name: string) => string) =>
    ['one', 'two', 'three'].filter((name) => existsSync(file(name)));

  test('a rule of the run applies in each turn of a session, and after a resume', async () => {
    const { run, file, processes } = await threeTurns();
    const args = ['--workflow-id', 'r', '--max-iterations', '2', ...ALLOWED];
    expect(await run('workflow', ...args)).toMatchObject({ code: 3 });
    expect(made(file)).toEqual(['one', 'two']);
    expect(processes()).toHaveLength(1);
    expect(await run('resume', 'r', '--max-iterations', '9')).toMatchObject({ code: 0 });
    expect(made(file)).toEqual(['one', 'two', 'three']);
  });

  if (isLong)
    test('without the rule the same calls are denied', async () => {
      const { run, file } = await threeTurns();
      expect(await run('workflow')).toMatchObject({ code: 0 });
      expect(made(file)).toEqual([]);
    });

  test.each([
    ['settings that it understands', {}, []],
    ['a setting that it does not understand', { cleanupPeriodDays: 'soon' }, []],
    ['other sources of settings', {}, ['--agent-args', '--setting-sources user']],
  ])('the rules of the user and of Raymond apply with %s', async (_, more, args) => {
    const { run, file } = await sandbox({
      age,
      workflow: { 'START.md': 'Write.' },
      script: (_, turn) => replies()[turn] ?? '<result>tried</result>',
    });
    const names = ['.raymond/evil', 'workflow/START.md', 'mine.json', 'secret', 'free'];
    const replies = () => [...names.map((name) => write(file(name))), bash('touch .raymond/evil')];
    const settings = { permissions: { deny: ['Edit(secret)', 'Write(secret)'] }, ...more };
    const given = JSON.stringify(settings);
    await writeFile(file('mine.json'), given);
    const finished = await run('workflow', '--settings', 'mine.json', ...args);
    expect(finished).toMatchObject({ code: 0 });
    expect(names.filter((name) => existsSync(file(name)))).toEqual([
      'workflow/START.md',
      'mine.json',
      'free',
    ]);
    expect(readFileSync(file('workflow/START.md'), 'utf8')).toBe('Write.');
    expect(readFileSync(file('mine.json'), 'utf8')).toBe(given);
  });

  test('a folder, MCP servers, a system prompt and further arguments reach the agent', async () => {
    const { run, file, claude, model } = await sandbox({
      age,
      workflow: { 'START.md': 'Write.' },
      script: (_, turn) => [write(outside())][turn] ?? '<result>done</result>',
    });
    const outside = () => `${claude.work}/../beside/note`;
    await mkdir(file('../beside'));
    await writeFile(file('mcp.json'), JSON.stringify({ mcpServers: {} }));
    const { code, stderr } = await run(
      ...['workflow', '--add-dir', '../beside', '--mcp-config', 'mcp.json'],
      ...['--append-system-prompt', '--be "brief"', '--agent-args', "--tools 'Write,Read'"],
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(existsSync(outside())).toBe(true);
    const request = JSON.stringify(model.requests[0]);
    expect(request).toContain('--be \\"brief\\"');
    expect(model.requests[0]?.tools).toContain('Write');
    expect(model.requests[0]?.tools).not.toContain('Bash');
  });

  if (isLong)
    test('a resume that forbids tools stops an agent that still runs', async () => {
      const { start, run, file, journal } = await sandbox({
        age,
        workflow: { 'START.md': 'Do one.' },
        script: answering({
          'Do one.': bash('bash -c "touch begun; sleep 300"'),
          'You were interrupted': '<result>done</result>',
        }),
      });
      const first = start('workflow', '--workflow-id', 'r', ...ALLOWED);
      await until(() => existsSync(file('begun')));
      await killHard(first.child);
      const { code, stderr } = await run('resume', 'r', '--disallowed-tools', 'Bash');
      expect(code).toBe(0);
      expect(stderr).toContain('it may use fewer tools');
      expect(eventsOf(journal('r'), 'step-interrupted')).toMatchObject([{ repeat: 'continue' }]);
    });
});
