// Options that a run passes to the agent: which are kept, and which are refused.
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const FLOW = {
  'flow/START.sh': `echo '<goto>NEXT</goto>'`,
  'flow/NEXT.sh': `echo '<result>done</result>'`,
  'text.json': 'no json',
  'list.json': '[]',
  'rules.json': '{"permissions":{"allow":"Bash"}}',
  'good.json': '{}',
};

test.each<[readonly string[], string]>([
  [['--allowed-tools', '--print'], '--allowed-tools contains "--print"'],
  [['--allowed-tools', 'Bash(a'], '--allowed-tools contains "Bash(a"'],
  [['--disallowed-tools', 'Read,-p'], '--disallowed-tools contains "Read,-p"'],
  [['--settings', 'none.json'], '--settings: there is no file '],
  [['--settings', 'text.json'], 'text.json is not a JSON object'],
  [['--settings', 'list.json'], 'list.json is not a JSON object'],
  [['--settings', 'rules.json'], 'permissions that are not lists of rules'],
  [['--settings', '{"a":'], 'the text is not a JSON object'],
  [['--settings', 'flow'], '--settings: '],
  [['--mcp-config', 'good.json', '--mcp-config', 'text.json'], 'text.json is not a JSON object'],
  [['--add-dir', 'nowhere'], '--add-dir: there is no folder '],
  [['--add-dir', 'good.json'], '--add-dir: there is no folder '],
  [['--agent', ''], 'The name of the agent is empty.'],
  [['--agent', 'claude,'], '--agent is "claude,".'],
  [['--agent', 'claude,codx'], 'Raymond does not know the agent "codx".'],
  [['--model', 'opus,-p'], '--model is "-p".'],
  [['--agent-args', '--print'], 'which Raymond sets itself'],
  [['--agent-args', '--model=opus'], 'Give --model to Raymond itself'],
  [['--agent-args', 'Say hello.'], 'would read as a prompt'],
])('%j is refused before the run starts', async (args, why) => {
  const project = newProject(FLOW);
  const { code, stderr } = await command(project, ['flow', '--workflow-id', 'r', ...args]);
  expect(code).toBe(64);
  expect(stderr).toMatch(new RegExp(why.replace(/[()[\].]/g, '\\$&')));
  expect((await command(project, ['list'])).stdout).not.toContain('r ');
});

test('they are kept for a resume, with paths relative to the directory where the run began', async () => {
  const project = newProject(FLOW);
  mkdirSync(project.path('inner'));
  const args = [
    ...['--workflow-id', 'r', '--max-iterations', '1'],
    ...['--allowed-tools', 'Read,Bash(git log:*) Grep', '--allowed-tools', 'Glob'],
    ...['--disallowed-tools', 'WebFetch', '--settings', '../good.json'],
    ...['--mcp-config', '../good.json', '--mcp-config', '{}', '--add-dir', '.'],
    ...['--append-system-prompt', '-p', '--agent-args', '--plugin-dir x'],
  ];
  const inner = { cwd: project.path('inner') };
  expect(await command(project, ['../flow', ...args], inner)).toMatchObject({ code: 3 });
  const kept = {
    allowedTools: ['Read', 'Bash(git log:*)', 'Grep', 'Glob'],
    disallowedTools: ['WebFetch'],
    agentSettings: project.path('good.json'),
    mcpConfig: [project.path('good.json'), '{}'],
    addDir: [project.path('inner')],
    appendSystemPrompt: '-p',
    agentArgs: [`--plugin-dir=${project.path('inner/x')}`],
  };
  expect(agentChoicesOf(project)).toMatchObject(kept);
  const resume = ['resume', 'r', '--max-iterations', '9', '--allowed-tools', ''];
  expect(await command(project, resume)).toMatchObject({ code: 0 });
  const { allowedTools: _, ...others } = kept;
  expect(agentChoicesOf(project)).toMatchObject(others);
  expect(agentChoicesOf(project)).not.toHaveProperty('allowedTools');
});

test('alternatives are kept for a resume, from the command line and from a config file', async () => {
  const project = newProject(FLOW);
  const lists = ['--agent', 'codex, claude,codex', '--model', 'gpt-a,gpt-b'];
  const begin = ['flow', '--workflow-id', 'r', '--max-iterations', '1', ...lists];
  expect(await command(project, begin)).toMatchObject({ code: 3 });
  const kept = { agent: ['codex', 'claude'], model: ['gpt-a', 'gpt-b'] };
  expect(agentChoicesOf(project)).toMatchObject(kept);
  expect(await command(project, ['resume', 'r', '--max-iterations', '9'])).toMatchObject({
    code: 0,
  });
  expect(agentChoicesOf(project)).toMatchObject(kept);

  const config = '[raymond]\nagent = ["claude", "codex"]\nmodel = ["opus", "sonnet"]\n';
  const other = newProject({ ...FLOW, '.raymond/config.toml': config });
  await command(other, ['trust', '--yes']);
  expect(await command(other, ['flow', '--workflow-id', 'r'])).toMatchObject({ code: 0 });
  expect(agentChoicesOf(other)).toMatchObject({
    agent: ['claude', 'codex'],
    model: ['opus', 'sonnet'],
  });
});

test.each([
  ['agent = []', 'agent'],
  ['agent = [1]', 'agent'],
  ['model = ["opus", ""]', 'model'],
])('a config file with %s is refused', async (line, key) => {
  const project = newProject({ ...FLOW, '.raymond/config.toml': `[raymond]\n${line}\n` });
  const { code, stderr } = await command(project, ['flow']);
  expect(code).toBe(64);
  expect(stderr).toContain(`line 2, has a wrong value for ${key}`);
  expect(stderr).toContain('Write a text in quotes, or a list of texts');
});

test("paths in a project's trusted config file are relative to the project", async () => {
  const config =
    '[raymond]\nsettings = "good.json"\nmcp_config = ["good.json"]\nadd_dir = ["flow"]\n';
  const project = newProject({ ...FLOW, '.raymond/config.toml': config });
  await command(project, ['trust', '--yes']);
  const { code } = await command(project, ['.', '--workflow-id', 'r'], {
    cwd: project.path('flow'),
  });
  expect(code).toBe(0);
  expect(agentChoicesOf(project)).toMatchObject({
    agentSettings: project.path('good.json'),
    mcpConfig: [project.path('good.json')],
    addDir: [project.path('flow')],
  });
});

function agentChoicesOf(project: ReturnType<typeof newProject>) {
  const events = project.journal('r');
  return events.flatMap((event) => ('settings' in event ? [event.settings.agent] : [])).at(-1);
}
