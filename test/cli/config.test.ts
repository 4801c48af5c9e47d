import { chmodSync, existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const LOOP = { 'loop/START.sh': `echo >>steps; echo '<goto>START</goto>'` };
const CONFIG = '.raymond/config.toml';

test('--init-config writes every option, commented out, and never overwrites a file', async () => {
  const project = newProject(LOOP);
  expect(await command(project, ['--init-config'])).toMatchObject({ code: 0, stdout: '' });
  const text = project.read(CONFIG);
  for (const key of ['budget', 'max_iterations', 'dangerously_skip_permissions', 'claude_path'])
    expect(text).toMatch(new RegExp(`^# ${key} = `, 'm'));
  expect(text).not.toMatch(/^[^#[\n]/m);
  expect(await command(project, ['--init-config'])).toMatchObject({ code: 64 });
  expect(project.read(CONFIG)).toBe(text);
  // The file can be read unchanged, and with every option enabled.
  expect(await command(project, ['config'])).toMatchObject({ code: 0 });
  project.write(CONFIG, text.replace(/^# (\w+ = )/gm, '$1'));
  const { code, stdout } = await command(project, ['config', '--json']);
  expect(code).toBe(0);
  const { values, ignored } = JSON.parse(stdout);
  expect(values).toMatchObject({
    budget: { value: 10 },
    maxIterations: { value: 100 },
    failFast: { value: false },
  });
  expect(Object.keys(ignored).sort()).toEqual([
    'addDir',
    'agent',
    'agentArgs',
    'allowedTools',
    'answersSecret',
    'appendSystemPrompt',
    'claudePath',
    'codexPath',
    'confirmAbove',
    'database',
    'mcpConfig',
    'onEvent',
    'remote',
    'settings',
  ]);
});

test('its options apply unless the command line overrides them', async () => {
  const project = newProject({
    ...LOOP,
    [CONFIG]: '[raymond]\nmax_iterations = 2\nquiet = true\n',
  });
  const { code, stderr } = await command(project, ['loop']);
  expect(code).toBe(3);
  expect(stderr).not.toContain('starts:');
  expect(project.lines('steps')).toHaveLength(2);
  await command(project, ['loop', '--max-iterations', '3']);
  expect(project.lines('steps')).toHaveLength(2 + 3);
});

test('the command line overrides the file in both directions', async () => {
  const project = newProject({
    ...LOOP,
    [CONFIG]:
      '[raymond]\nmax_iterations = 1\nwait = false\nno_warm = true\ndebug = false\nquiet = true\nfail_fast = true\n',
  });
  const settings = async (run: string, ...options: string[]) => {
    const { stderr } = await command(project, ['loop', '--workflow-id', run, ...options]);
    const [started] = project.journal(run);
    return { stderr, settings: started?.type === 'run-started' ? started.settings : undefined };
  };
  expect(await settings('a')).toEqual({
    stderr: expect.not.stringContaining('a starts:'),
    settings: expect.objectContaining({ wait: false, warm: false, failFast: true }),
  });
  expect(existsSync(project.path('.raymond/debug'))).toBe(false);
  const opposite = ['--wait', '--warm', '--no-fail-fast', '--no-quiet', '--debug'];
  expect(await settings('b', ...opposite)).toEqual({
    stderr: expect.stringContaining('b starts:'),
    settings: expect.objectContaining({ wait: true, warm: true, failFast: false }),
  });
  expect(existsSync(project.path('.raymond/debug'))).toBe(true);
  expect((await settings('c', '--no-wait', '--wait')).settings).toMatchObject({ wait: true });
});

test.each([
  ['--effort', 'hihg', 'Did you mean high?'],
  ['--effort', 'low/', 'Name one of low, medium, high, xhigh, max.'],
  ['--permission-mode', 'acceptEdit', 'Did you mean acceptEdits?'],
  ['--permission-mode', 'bypasspermissions', 'Did you mean bypassPermissions?'],
  ['--permission-mode', 'everything', 'Name one of plan, '],
  ['--model', 'sonet', 'Did you mean sonnet?'],
  ['--agent-args', '--verbose', 'Leave it out.'],
])('%s %s is refused before the workflow is loaded', async (option, value, remedy) => {
  const project = newProject(LOOP);
  const env = { RAYMOND_CLAUDE: '/nowhere/claude' };
  const { code, stderr } = await command(project, ['missing', option, value], { env });
  expect(code).toBe(64);
  expect(stderr).toContain(remedy);
  expect(stderr).not.toContain('missing');
});

test('an effort that only the installed agent knows can be used', async () => {
  const project = newProject({ ...LOOP, claude: AGENT });
  chmodSync(project.path('claude'), 0o755);
  const env = { RAYMOND_CLAUDE: project.path('claude') };
  const start = (effort: string) =>
    command(project, ['loop', '--max-iterations', '1', '--effort', effort], { env });
  expect(await start('ultra')).toMatchObject({ code: 3 });
  const { code, stderr } = await start('ulrta');
  expect(code).toBe(64);
  expect(stderr).toContain('Did you mean ultra?');
});

const AGENT = `#!/bin/sh
echo '  --effort <level>   Effort level
                     (low, ultra)'
`;

test('both options that skip permissions give a warning, also at a resume', async () => {
  const project = newProject(LOOP);
  const skips = (run: string) =>
    project
      .journal(run)
      .flatMap((event) => ('settings' in event ? [event.settings.agent.skipPermissions] : []));
  const WARNING = 'WARNING: permissions are skipped';
  const one = ['--max-iterations', '1', '--quiet'];
  const names = [
    ['--dangerously-skip-permissions'],
    ['--permission-mode', 'bypassPermissions'],
  ] as const;
  for (const [index, name] of names.entries()) {
    const run = `r${index}`;
    const first = await command(project, ['loop', '--workflow-id', run, ...one, ...name]);
    expect(first.stderr).toContain(WARNING);
    const resume = ['resume', run, '--max-iterations'];
    expect((await command(project, [...resume, '2'])).stderr).toContain(WARNING);
    const plan = await command(project, [...resume, '3', '--permission-mode', 'plan']);
    expect(plan.stderr).not.toContain(WARNING);
    expect(skips(run)).toEqual([true, true, false]);
  }
  const both = ['loop', '--dangerously-skip-permissions', '--permission-mode', 'plan'];
  expect(await command(project, both)).toMatchObject({ code: 64 });
});

test.each([
  ['an unknown key', '\n[raymond]\n\nmax_iteration = 2\n', 'line 4', 'max_iterations'],
  ['a wrong type', '[raymond]\nbudget = "much"\n', 'line 2', 'Write a number'],
  ['a wrong value', '[raymond]\nquiet = false\nmodel = "-m"\n', 'line 3', 'such as opus'],
  ['a key outside of [raymond]', 'budget = 3\n', 'line 1', 'Move it under [raymond]'],
  ['invalid TOML', '[raymond]\nbudget = = 3\n', 'line 2', 'Fix the line'],
])('%s is refused with its line and a remedy', async (_, text, line, remedy) => {
  const project = newProject({ ...LOOP, [CONFIG]: text });
  const ended = await command(project, ['loop']);
  expect(ended).toMatchObject({ code: 64, stdout: '' });
  expect(ended.stderr).toContain(`${project.path(CONFIG)}, ${line}`);
  expect(ended.stderr).toContain(remedy);
  expect(project.lines('steps')).toEqual([]);
});
