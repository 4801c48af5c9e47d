// A project may be untrusted. These tests show which keys of its config file apply.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { openTerminal } from '../open-terminal.ts';
import { BIN, type Project } from '../raymond.ts';

const CONFIG = '.raymond/config.toml';
const TALK = { 'talk/START.md': 'Say hello.' };
const ONCE = { 'once/START.sh': `echo '<result>done</result>'` };

/** An agent that writes a file when it is started. */
function withProgram(config: string): Project {
  const project = newProject({
    ...TALK,
    ...ONCE,
    program: '#!/bin/sh\ntouch "$(dirname "$0")/was-run"\necho 2.1.300\n',
    [CONFIG]: config,
  });
  chmodSync(project.path('program'), 0o755);
  return project;
}

const PROGRAM = '[raymond]\nclaude_path = "./program"\nquiet = true\n';

test('a program that a cloned project names is not run', async () => {
  const project = withProgram(PROGRAM);
  // The PATH contains only what Raymond itself needs.
  const env = { PATH: dirname(process.execPath) };
  for (const args of [['doctor'], ['talk'], ['resume', '--all'], ['config']]) {
    const { stdout, stderr } = await command(project, args, { env });
    expect(stdout + stderr).toContain('claude_path = "./program"');
    expect(stdout + stderr).toContain('raymond trust');
  }
  expect(existsSync(project.path('was-run'))).toBe(false);
});

test('it is run after the user has trusted the file, until the file changes', async () => {
  const project = withProgram(PROGRAM);
  const wasRun = async () => {
    rmSync(project.path('was-run'), { force: true });
    await command(project, ['doctor'], { cwd: project.path('talk') });
    return existsSync(project.path('was-run'));
  };
  expect(await wasRun()).toBe(false);
  expect(await command(project, ['trust', '--yes'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('claude_path = "./program"'),
  });
  expect(await wasRun()).toBe(true);
  project.write(CONFIG, `${PROGRAM}# another line\n`);
  expect(await wasRun()).toBe(false);
  await command(project, ['trust', '--yes']);
  expect(await wasRun()).toBe(true);
  await command(project, ['trust', '--revoke']);
  expect(await wasRun()).toBe(false);
});

test('everything is shown before it is approved, and without a terminal a flag approves it', async () => {
  const project = withProgram(PROGRAM);
  project.write('.mcp.json', '{"mcpServers": {"x": {"command": "./server"}}}');
  project.write('.claude/agents/a.md', 'text');
  for (const args of [['trust'], ['config', 'trust']]) {
    const shown = await command(project, args);
    expect(shown.stderr).toContain('config.toml would apply:\n  claude_path = "./program"\n');
    expect(shown.stderr).toContain('  .claude/agents/a.md (4 bytes)\n');
    expect(shown.stderr).toContain(
      '  .mcp.json\n    {"mcpServers": {"x": {"command": "./server"}}}\n',
    );
    expect(shown.stderr).toContain('Nothing was approved.');
    expect(shown.stderr).toContain('If you trust all of this: raymond trust --yes');
    expect(shown.code).not.toBe(0);
  }
  expect(existsSync(join(project.userConfig, 'trusted'))).toBe(false);
  await command(project, ['trust', '--yes']);
  const again = await command(project, ['trust']);
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('is already approved') });
});

test('at a terminal it asks after it has shown everything', async () => {
  const project = withProgram(PROGRAM);
  const answered = async (answer: string) => {
    const terminal = openTerminal(project, ['trust']);
    await eventually('it asks', () => terminal.screen().includes('Approve all of this? [yes/no]'));
    expect(terminal.screen()).toContain('claude_path = "./program"');
    expect(existsSync(join(project.userConfig, 'trusted'))).toBe(false);
    terminal.type(`${answer}\r`);
    await terminal.ended;
    return existsSync(join(project.userConfig, 'trusted'));
  };
  expect(await answered('no')).toBe(false);
  expect(await answered('yes')).toBe(true);
});

const CONTRADICTORY = '[raymond]\ndangerously_skip_permissions = true\npermission_mode = "plan"\n';

test('a contradiction with a key that does not count is none', async () => {
  const project = newProject({ ...ONCE, [CONFIG]: CONTRADICTORY });
  for (const args of [['config'], ['once'], ['list'], ['doctor'], ['once', '--rehearse']]) {
    const { stdout, stderr } = await command(project, args);
    expect(stdout + stderr).not.toContain('asks to skip permissions');
  }
  const { code, stderr } = await command(project, ['once']);
  expect(stderr).toContain('Ignored: dangerously_skip_permissions = true');
  expect(code).toBe(0);
});

test('a contradiction between keys that count stops runs, unless the command line decides', async () => {
  const project = newProject({ ...ONCE, [CONFIG]: CONTRADICTORY });
  await command(project, ['trust', '--yes']);
  expect((await command(project, ['config'])).stdout).toContain('Remove one of the two.');
  expect(await command(project, ['list'])).toMatchObject({ code: 0 });
  expect((await command(project, ['once'])).stderr).toContain('asks to skip permissions');
  for (const option of ['--permission-mode=plan', '--dangerously-skip-permissions'])
    expect(await command(project, ['once', option])).toMatchObject({ code: 0 });
});

test.each([
  ['verbose = true', '--quiet', /^$/],
  ['quiet = true', '--verbose', /done/],
  ['json = true', '--plain', /done/],
])('%s in a file gives way to %s', async (line, option, report) => {
  const project = newProject({ ...ONCE, [CONFIG]: `[raymond]\n${line}\n` });
  const { stdout, stderr } = await command(project, ['once', option, '--no-debug']);
  expect(stderr).toMatch(report);
  expect(stdout).toBe('done\n');
});

test('the agent of a project needs trust', async () => {
  const project = newProject({ ...ONCE, [CONFIG]: '[raymond]\nagent = "opencode"\n' });
  const { stderr } = await command(project, ['once']);
  expect(stderr).toContain('Ignored: agent = "opencode"');
});

test('a relative folder in the PATH does not make Raymond run a program of the project', async () => {
  const project = withProgram('[raymond]\nquiet = true\n');
  renameSync(project.path('program'), project.path('claude'));
  const env = { PATH: `.:${dirname(process.execPath)}` };
  const { stdout } = await command(project, ['doctor'], { env });
  expect(stdout).toContain('is not on the PATH');
  expect(existsSync(project.path('was-run'))).toBe(false);
});

test('trust is for one file, and not for the same content elsewhere', async () => {
  const project = withProgram(PROGRAM);
  await command(project, ['trust', '--yes']);
  project.write(`other/${CONFIG}`, PROGRAM);
  const { stderr } = await command(project, ['../once'], { cwd: project.path('other') });
  expect(stderr).toContain('is not trusted');
});

test('approvals are stored in private files of the user', async () => {
  const project = withProgram(PROGRAM);
  await command(project, ['trust', '--yes']);
  const folder = join(project.userConfig, 'trusted');
  const [record = ''] = readdirSync(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, record)).mode & 0o777).toBe(0o600);
});

test('a script of a workflow cannot trust a file', async () => {
  const project = newProject({
    'flow/START.sh': `echo "<result>$('${process.execPath}' '${BIN}' trust --yes 2>&1)</result>"`,
    [CONFIG]: PROGRAM,
  });
  const { code, stdout } = await command(project, ['flow']);
  expect(code).toBe(0);
  expect(stdout).toContain('only a person can trust a project');
  expect(existsSync(join(project.userConfig, 'trusted'))).toBe(false);
});

test.each([
  ['dangerously_skip_permissions = true', true],
  ['dangerously_skip_permissions = false', false],
  ['permission_mode = "bypassPermissions"', true],
  ['permission_mode = "auto"', true],
  ['permission_mode = "acceptEdits"', false],
  ['permission_mode = "plan"', false],
  ['log_file = "../raymond.log"', true],
  ['log_file = "/tmp/raymond.log"', true],
  ['log_file = ".git/hooks/pre-commit"', true],
  ['log_file = ".husky/pre-commit"', true],
  ['log_file = "flow/.claude/settings.json"', true],
  ['log_file = "raymond.log"', false],
  ['budget = 0', true],
  ['budget = 10.01', true],
  ['budget = 10', false],
  ['budget = 0.5', false],
  ['model = "opus"', false],
  ['allowed_tools = ["Bash"]', true],
  ['disallowed_tools = ["Bash"]', false],
  ['mcp_config = ["mcp.json"]', true],
  ['settings = "agent.json"', true],
  ['add_dir = [".."]', true],
  ['append_system_prompt = "Be brief."', true],
  ['agent_args = "--no-chrome"', true],
  ['set = ["a=1"]', false],
  ['set = ["a=1","Options=1"]', true],
])('%s needs trust: %s', async (line, needed) => {
  const project = newProject({ ...ONCE, [CONFIG]: `[raymond]\n${line}\n` });
  const { code, stdout, stderr } = await command(project, ['once', '--workflow-id', 'r']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
  expect(stderr.includes(`Ignored: ${line}`)).toBe(needed);
  const [started] = project.journal('r');
  const unchanged = { ...newRun.settings, agent: AGENTS.defaults };
  if (needed) expect(started && 'settings' in started && started.settings).toEqual(unchanged);
  expect(existsSync(join(dirname(project.folder), 'raymond.log'))).toBe(false);
});

test("an ignored key does not override the user's key", async () => {
  const project = newProject({
    ...ONCE,
    [CONFIG]: '[raymond]\npermission_mode = "bypassPermissions"\n',
  });
  writeUserConfig(project, '[raymond]\npermission_mode = "plan"\n');
  await command(project, ['once', '--workflow-id', 'r']);
  expect(project.journal('r')[0]).toMatchObject({
    settings: { agent: { skipPermissions: false, permissionMode: 'plan' } },
  });
});

test("the project's file overrides the user's, and the command line overrides both", async () => {
  const project = newProject({ ...ONCE, [CONFIG]: '[raymond]\nmodel = "haiku"\nbudget = 3\n' });
  const log = join(dirname(project.folder), 'elsewhere.log');
  writeUserConfig(
    project,
    `[raymond]\nbudget = 50\neffort = "high"\nmodel = "opus"\ndangerously_skip_permissions = true\nlog_file = "${log}"\n`,
  );
  const { stderr } = await command(project, ['once', '--workflow-id', 'r', '--budget', '2']);
  expect(stderr).toContain('WARNING: permissions are skipped');
  expect(stderr).not.toContain('not trusted');
  expect(existsSync(log)).toBe(true);
  expect(project.journal('r')[0]).toMatchObject({
    settings: {
      budgetUsd: 2,
      agent: { effort: 'high', model: 'haiku', skipPermissions: true },
    },
  });
  const { stdout } = await command(project, ['config', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    user: join(project.userConfig, 'config.toml'),
    project: project.path(CONFIG),
    trusted: false,
    values: {
      budget: { value: 3, from: 'project' },
      effort: { value: 'high', from: 'user' },
      model: { value: 'haiku', from: 'project' },
      logFile: { value: log, from: 'user' },
    },
    ignored: {},
  });
  const shown = (await command(project, ['config'])).stdout;
  expect(shown).toContain('# model = "opus" (overridden by the project\'s file)');
});

test('a user folder that others can change is refused', async () => {
  const project = newProject(ONCE);
  writeUserConfig(project, '[raymond]\nquiet = true\n');
  chmodSync(project.userConfig, 0o777);
  const { code, stderr } = await command(project, ['once']);
  expect(code).not.toBe(0);
  expect(stderr).toContain(`chmod go-w ${project.userConfig}`);
});

function writeUserConfig({ userConfig }: Project, text: string): void {
  mkdirSync(userConfig, { recursive: true, mode: 0o700 });
  writeFileSync(join(userConfig, 'config.toml'), text, { mode: 0o600 });
}

/** A clone next to a folder with work of the user. */
function cloneWith(link: string, target: string): { project: Project; precious: string } {
  const project = newProject({ ...ONCE, '.raymond/state/x.jsonl': '' });
  const precious = join(dirname(project.folder), 'precious');
  mkdirSync(precious);
  writeFileSync(join(precious, 'work'), 'of days');
  symlinkSync(target, project.path(link));
  return { project, precious };
}

test('no command follows a link in .raymond out of the project', async () => {
  const { project, precious } = cloneWith('.raymond/runs', '../..');
  project.write('.raymond/state/precious.jsonl', '');
  const commands = [
    ['prune', 'precious'],
    ['prune', '--all'],
    ['once'],
    ['resume', 'precious'],
    ['resume', '--all'],
    ['list'],
    ['show', 'precious'],
    ['logs', 'precious'],
    ['stop', 'precious'],
    ['answer', 'precious', 'yes'],
    ['config'],
    ['doctor'],
  ];
  for (const args of commands) {
    const { code, stderr } = await command(project, args);
    expect(code, args[0]).toBe(1);
    expect(stderr).toContain(`${project.path('.raymond/runs')} is a link`);
  }
  expect(readFileSync(join(precious, 'work'), 'utf8')).toBe('of days');
});

test('a journal that is a link is not read or written', async () => {
  const { project, precious } = cloneWith('.raymond/state/linked.jsonl', '../../../precious/work');
  for (const name of ['show', 'resume', 'logs']) {
    const { code, stderr } = await command(project, [name, 'linked']);
    expect(code).toBe(1);
    expect(stderr).toContain('not a regular file');
  }
  expect(readFileSync(join(precious, 'work'), 'utf8')).toBe('of days');
});

test('commands that only read a workflow ignore the .raymond next to it', async () => {
  const { project } = cloneWith('.raymond/runs', '../..');
  expect(await command(project, ['lint', 'once'])).toMatchObject({ code: 0 });
  expect(await command(project, ['diagram', 'once'])).toMatchObject({ code: 0 });
});

test('without a repository, a .raymond further up is not used', async () => {
  const project = newProject({ ...ONCE, [CONFIG]: '[raymond]\nmodel = "gpt"\n' });
  rmSync(project.path('.git'), { recursive: true });
  mkdirSync(project.path('sub'));
  const cwd = project.path('sub');
  expect(await command(project, ['../once'], { cwd })).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(existsSync(project.path('sub/.raymond/state'))).toBe(true);
});

test('an open .raymond and an open log become private, and a log of others is refused', async () => {
  const project = newProject({ ...ONCE, 'raymond.log': 'before\n' });
  mkdirSync(project.path('.raymond/state'), { recursive: true, mode: 0o755 });
  chmodSync(project.path('raymond.log'), 0o666);
  const log = ['once', '--log-file', 'raymond.log'];
  expect(await command(project, log)).toMatchObject({ code: 0 });
  const mode = (name: string) => statSync(project.path(name)).mode & 0o777;
  expect([mode('.raymond'), mode('.raymond/state'), mode('raymond.log')]).toEqual([
    0o700, 0o700, 0o600,
  ]);
  expect(project.lines('raymond.log')[0]).toBe('before');
  expect(project.lines('raymond.log').join()).toContain('done');
});

test.each([
  ['a folder', 'once', 'cannot be written'],
  ['a missing folder', 'nowhere/x.log', 'cannot be written'],
  ['a pipe', 'pipe', 'cannot be written'],
  ['a link', 'link', 'cannot be written'],
  ['a linked folder of the project', 'linked/x.log', 'a folder in its path is a link', ''],
])('a log in %s is refused before the run begins', async (_, file, why, it = 'it ') => {
  const project = newProject(ONCE);
  symlinkSync('once/START.sh', project.path('link'));
  symlinkSync('once', project.path('linked'));
  execFileSync('mkfifo', [project.path('pipe')]);
  const { code, stdout, stderr } = await command(project, ['once', '--log-file', file]);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toContain(`${file} cannot be the log file: ${it}${why}`);
  expect((await command(project, ['list'])).stderr).toContain('This project has no runs');
});

test.runIf(process.getuid?.() === 0)('a log of another user is refused', async () => {
  const project = newProject({ ...ONCE, 'raymond.log': '' });
  chownSync(project.path('raymond.log'), 54_321, 54_321);
  const { code, stderr } = await command(project, ['once', '--log-file', 'raymond.log']);
  expect(code).toBe(64);
  expect(stderr).toContain('it belongs to another user');
});

test('a project without a config file has nothing to approve', async () => {
  const project = newProject(ONCE);
  const { code, stderr } = await command(project, ['trust', '--yes']);
  expect(code).toBe(0);
  expect(stderr).toContain('Nothing in this project needs an approval.');
});
