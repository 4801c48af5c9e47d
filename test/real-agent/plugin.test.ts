// The plugin of Raymond in the real Claude Code: a scripted model uses its skill, its tools and its hook.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { root } from '../docs/documents.ts';
import { BIN } from '../raymond.ts';
import {
  type Age,
  ages,
  type ClaudeSandbox,
  claudeSandbox,
  runClaude,
  suiteAges,
} from './claude-sandbox.ts';
import type { ModelRequest } from './model-request.ts';
import { bash } from './raymond-sandbox.ts';
import { type Answer, type Reply, type Script, scriptedModel } from './scripted-model.ts';

const PLUGIN = join(root, 'plugin');
const MAY = (entry: string) => `---\nallowed_transitions: [${entry}]\n---\nSay hello.\n`;

async function world(script: Script) {
  const model = await scriptedModel(script);
  const claude = await claudeSandbox(model.url, { ENABLE_TOOL_SEARCH: 'false' });
  onTestFinished(async () => {
    await model.close();
    await claude.remove();
  });
  // As an installed package has it.
  const bin = join(claude.configFolder, 'bin');
  mkdirSync(bin);
  const program = join(bin, 'raymond');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  chmodSync(program, 0o755);
  const { PATH = '' } = claude.environment;
  return { ...claude, environment: { ...claude.environment, PATH: `${bin}:${PATH}` } };
}

const use = (name: string, input: Readonly<Record<string, unknown>>): Answer => ({
  content: [{ type: 'tool_use', name, input }],
});

function toolIn(reply: Reply): string | undefined {
  if (typeof reply === 'string' || !('content' in reply)) return undefined;
  const [block] = reply.content;
  return typeof block === 'object' && block.type === 'tool_use' ? block.name : undefined;
}

/** Everything that the model was told since its last turn. */
function news({ messages }: ModelRequest): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return JSON.stringify(messages.slice(last + 1));
}

async function plugin(age: Age, sandbox: ClaudeSandbox, ...args: readonly string[]) {
  const { stdout, stderr, exit } = await runClaude(age, sandbox, ['plugin', ...args], '');
  return { code: exit.code, said: stdout + stderr };
}

describe.each(ages)('%s', (age) => {
  test('its validator accepts the plugin and the marketplace, and it installs the plugin', async () => {
    const sandbox = await world([]);
    for (const path of [PLUGIN, root]) {
      const { code, said } = await plugin(age, sandbox, 'validate', '--strict', path);
      expect(said).toContain('Validation passed');
      expect(code).toBe(0);
    }
    expect((await plugin(age, sandbox, 'marketplace', 'add', root)).said).toContain(
      'Successfully added marketplace: raymond',
    );
    const { said } = await plugin(age, sandbox, 'install', 'raymond@raymond');
    expect(said).toContain('Successfully installed plugin: raymond@raymond');
    const details = await plugin(age, sandbox, 'details', 'raymond');
    expect(details.said).toMatch(/Skills \(1\) +write-workflow/);
    expect(details.said).toMatch(/Hooks \(1\) +PostToolUse/);
    expect(details.said).toMatch(/MCP servers \(1\) +raymond/);
  });
});

describe.each(suiteAges)('%s', (age) => {
  test('a model follows the skill, is told of a planted fault, checks, and proposes', async () => {
    const heard: string[] = [];
    const sandbox = await world((request) => {
      const next = turns[heard.length] ?? 'There is nothing more to do.';
      const name = toolIn(next);
      // Newer versions connect to servers while the model works.
      if (name !== undefined && !request.tools.includes(name))
        return bash('raymond check flow --json');
      heard.push(news(request));
      return next;
    });
    const file = (name: string) => join(sandbox.work, name);
    const start = file('flow/START.md');
    const greets = MAY('{ tag: result }');
    const turns: readonly Reply[] = [
      use('Skill', { skill: 'raymond:write-workflow' }),
      use('Write', { file_path: start, content: greets }),
      use('Write', { file_path: start, content: MAY('{ tag: goto, target: ENDE }') }),
      use('Write', { file_path: file('flow/END.md'), content: greets }),
      use('Edit', { file_path: start, old_string: 'ENDE', new_string: 'END' }),
      bash('raymond check flow --json'),
      use(tool('check'), { workflow: 'flow' }),
      use(tool('propose'), {
        ...{ workflow: 'other', why: 'The same, elsewhere.' },
        files: [{ name: 'START.md', content: greets }],
      }),
      'The workflow is ready.',
    ];
    const args = ['-p', '--output-format', 'json', '--plugin-dir', PLUGIN];
    const may = ['--allowedTools', 'Skill Write Edit Bash mcp__plugin_raymond_raymond'];
    const ended = await runClaude(age, sandbox, [...args, ...may], 'Write a workflow that greets.');
    expect(JSON.parse(ended.stdout), ended.stderr).toMatchObject({
      ...{ is_error: false, result: 'The workflow is ready.' },
    });
    const [, skill, , planted, unfixed, fixed, checked, asked, proposed] = heard;
    expect(skill).toContain('A workflow is a folder. Each file in it is a state');
    expect(planted).toContain('START.md:2: error:');
    expect(planted).toContain('[missing-state]');
    expect(unfixed).toContain('[missing-state]');
    expect(fixed).not.toContain('missing-state');
    expect(checked).toMatch(/verdict\W+ready/);
    expect(asked).toMatch(/verdict\W+ready/);
    expect(proposed).toContain('raymond trust --proposals other-');
    expect(readFileSync(file('flow/START.md'), 'utf8')).toContain('target: END }');
  });
});

const tool = (name: string) => `mcp__plugin_raymond_raymond__${name}`;
