// The plugin for Claude Code: its skill is right, and its hook is harmless. test/real-agent/plugin.test.ts
// plays it with the real agent.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { program } from '../../src/cli/program.ts';
import { TOOLS } from '../../src/mcp/tools.ts';
import { command } from '../command.ts';
import { readDocument, root } from '../docs/documents.ts';
import { newProject } from '../new-project.ts';
import { BIN, type Project } from '../raymond.ts';

const SKILL = 'plugin/skills/write-workflow/SKILL.md';
const { text, blocks } = readDocument(SKILL);
const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

test('the plugin has the version of the package, and the marketplace has the plugin', () => {
  const { version } = json('package.json');
  expect(json('plugin/.claude-plugin/plugin.json')).toMatchObject({ name: 'raymond', version });
  const { plugins } = json('.claude-plugin/marketplace.json');
  expect(plugins).toMatchObject([{ name: 'raymond', source: './plugin' }]);
});

test('the skill is within the limits of its format', () => {
  const [, front = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
  const { name, description, ...others } = parse(front);
  expect(others).toEqual({});
  expect(name).toBe('write-workflow');
  expect(description.length).toBeLessThan(1024);
  expect(text.split('\n').length).toBeLessThan(500);
});

test('every command and tool that the skill names exists', () => {
  const nowhere = () => Promise.reject(new Error('no command is carried out'));
  const commands = program(nowhere, async () => {}).commands.map((one) => one.name());
  const named = [...text.matchAll(/`raymond ([a-z]+)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !commands.includes(name))).toEqual([]);
  expect(named).toEqual(expect.arrayContaining(['init', 'check', 'test', 'bound', 'tag']));
  expect(TOOLS.map(({ name }) => name)).toContain('propose');
  expect(
    [...text.matchAll(/docs\/reference\/[\w-]+\.md/g)].every(([path]) =>
      existsSync(join(root, path)),
    ),
  ).toBe(true);
});

test('the example of the skill is ready, and its test passes', async () => {
  const files = blocks.flatMap(({ file, text }) =>
    file === undefined ? [] : [[`flow/${file}`, text] as const],
  );
  const project = newProject(Object.fromEntries(files));
  const { stdout } = await command(project, ['check', 'flow', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'ready', findings: [] });
  expect(await command(project, ['test', 'flow'])).toMatchObject({ code: 0 });
});

/** The hook, as Claude Code starts it after an edit. */
function edited(project: Project, input: unknown, more: Readonly<Record<string, string>> = {}) {
  const bin = project.path('../bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'raymond'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  chmodSync(join(bin, 'raymond'), 0o755);
  const { PATH = '' } = project.environment;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'plugin/hooks/lint-edited.mjs')],
    {
      cwd: project.folder,
      encoding: 'utf8',
      input: typeof input === 'string' ? input : JSON.stringify({ tool_input: input }),
      env: { ...project.environment, PATH: `${bin}:${PATH}`, ...more },
    },
  );
  return { status, stdout, stderr };
}

const FAULTY = '---\nallowed_transitions: [{ tag: goto, target: NEX }]\n---\nGo on.';

test('an edit of a faulty workflow is reported, whatever its path is', () => {
  const folder = 'a b;touch evil $(touch evil) ü';
  const project = newProject({ [`${folder}/START.md`]: FAULTY, [`${folder}/NEXT.md`]: 'x' });
  for (const name of ['START.md', 'NEXT.md']) {
    const { status, stderr } = edited(project, { file_path: project.path(folder, name) });
    expect(status).toBe(2);
    expect(stderr).toContain('START.md:2: error:');
    expect(stderr).toContain('[missing-state]');
  }
  expect(existsSync(project.path('evil'))).toBe(false);
});

test('what a workflow contains cannot act on the terminal of the agent', () => {
  const project = newProject({ 'flow/START.md': FAULTY.replace('NEX', '"N\\e[2J\\u202eX"') });
  const { status, stderr } = edited(project, { file_path: project.path('flow/START.md') });
  expect(status).toBe(2);
  expect(stderr.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('other edits and other input are none of its business', () => {
  const project = newProject({ 'flow/START.md': FAULTY, 'docs/a.md': 'x', 'flow/x.py': 'x' });
  const others = ['docs/a.md', 'flow/x.py', 'flow/README.md', 'flow/.x.md', 'none/START.md'];
  const inputs = [
    ...others.map((name) => ({ file_path: project.path(name) })),
    ...[{ file_path: 'flow/START.md' }, { file_path: 7 }, {}, 'no JSON', '', 'null'],
  ];
  for (const input of inputs)
    expect(edited(project, input)).toEqual({ status: 0, stdout: '', stderr: '' });
});

test('without Raymond on the PATH, the hook says so', () => {
  const project = newProject({ 'flow/START.md': FAULTY });
  const { status, stderr } = edited(
    project,
    { file_path: project.path('flow/START.md') },
    { PATH: '/none' },
  );
  expect(status).toBe(1);
  expect(stderr).toContain('Install Raymond, or disable its plugin.');
});
