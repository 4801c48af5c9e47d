// Agents that a config file adds by name and command.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const MINE = '[agents.mine]\ncommand = "./my-agent --acp"\nprotocol = "acp"\n';
const CALLS = `---
agent: mine
allowed_transitions:
  - { tag: call, target: HELP, return: END }
---
Ask for help.
`;
const FLOW = {
  'flow/START.md': CALLS,
  'flow/HELP.md': '---\nagent: mine\n---\nHelp. <result>done</result>',
  'flow/END.md': '---\nagent: mine\n---\nEnd. <result>done</result>',
};

function configure(project: Project, text: string): void {
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  writeFileSync(join(project.userConfig, 'config.toml'), text, { mode: 0o600 });
}

test('lint, diagram, convert and test know an agent of the user', async () => {
  const project = newProject(FLOW);
  expect(await command(project, ['lint', 'flow'])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('flow/START.md:2:8: error: There is no agent "mine".'),
  });
  configure(project, MINE);
  const { stdout, code } = await command(project, ['lint', 'flow']);
  expect(code).toBe(1);
  expect(stdout).toContain('flow/START.md:4:5: error: The agent mine of HELP.md cannot branch');
  configure(project, `${MINE}branch = true\n`);
  expect(await command(project, ['lint', 'flow'])).toMatchObject({ code: 0 });
  expect(await command(project, ['diagram', 'flow'])).toMatchObject({ code: 0 });
  expect(await command(project, ['convert', 'flow', 'flow.yaml'])).toMatchObject({ code: 0 });
  expect(await command(project, ['lint', 'flow.yaml'])).toMatchObject({ code: 0 });
  expect(await command(project, ['test', 'flow', '--explore'])).toMatchObject({ code: 0 });
});

test('config shows the agents of both files, and completion offers them', async () => {
  const project = newProject(FLOW);
  configure(project, `${MINE}branch = true\nprice."m-1" = { input = 1.0, output = 2.5 }\n`);
  const { stdout } = await command(project, ['config']);
  const program = join(project.userConfig, 'my-agent');
  expect(stdout).toContain(`agents.mine.command = ["${program}","--acp"]`);
  expect(stdout).toContain('agents.mine.branch = true');
  expect(stdout).toContain('agents.mine.price."m-1" = { input = 1, cached = 1, output = 2.5 }');
  const json = JSON.parse((await command(project, ['config', '--json'])).stdout);
  expect(json.agents.mine).toMatchObject({ command: [program, '--acp'], branch: true });
  const words = await command(project, ['__complete', '--', 'run', 'flow', '--agent', '']);
  expect(words.stdout.split(/\s+/)).toEqual(
    expect.arrayContaining(['claude', 'codex', 'opencode', 'mine']),
  );
});

test('a program of a cloned project is not an agent until the user trusts its file', async () => {
  const project = newProject({
    ...FLOW,
    'my-agent': '#!/bin/sh\ntouch "$(dirname "$0")/was-run"\n',
    '.raymond/config.toml': `${MINE}price."m" = { input = 0, output = 0 }\nbranch = true\n`,
  });
  chmodSync(project.path('my-agent'), 0o755);
  for (const args of [
    ['lint', 'flow'],
    ['flow'],
    ['config'],
    ['doctor'],
    ['flow', '--agent', 'mine'],
  ])
    await command(project, args);
  const refused = await command(project, ['flow']);
  expect(refused.stderr).toContain('Ignored: agents.mine.command = ');
  expect(refused.stderr).toContain('There is no agent "mine"');
  expect(existsSync(project.path('was-run'))).toBe(false);
  const trusted = await command(project, ['trust', '--yes']);
  expect(trusted.stderr).toContain(`agents.mine.command = ["${project.path('my-agent')}","--acp"]`);
  expect(trusted.stderr).toContain('agents.mine.price."m" = { input = 0,');
  expect(await command(project, ['lint', 'flow'])).toMatchObject({ code: 0 });
  expect(existsSync(project.path('was-run'))).toBe(false);
});

test('a run refuses to start with an agent whose program does not exist, or that nobody knows', async () => {
  const project = newProject({ 'flow/START.md': 'Work. <result>done</result>' });
  configure(project, `${MINE}price.m = { input = 1, output = 1 }\n`);
  const missing = await command(project, ['flow', '--agent', 'mine']);
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain(
    `The program "${join(project.userConfig, 'my-agent')}" of the agent mine does not exist.`,
  );
  expect(missing.stderr).toContain('name another one as command in [agents.mine]');
  const unknown = await command(project, ['flow', '--agent', 'mien']);
  expect(unknown.stderr).toContain('Raymond does not know the agent "mien".');
  expect(unknown.stderr).toContain('Did you mean mine?');
});
