// Lint and the start of a run refuse what an agent cannot do, with the line of the state.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const AGENT = '[agents.mine]\ncommand = "./agent"\n';
const PRICED = `${AGENT}price.m = { input = 1, output = 1 }\n`;
const FRONT = '---\nagent: mine\n---\n';
const CALLER = `${FRONT}Ask, with <call return="END">HELP</call>.\n`;
const CALLS = {
  'START.md': CALLER,
  'HELP.md': `${FRONT}Help, with <result>x</result>.\n`,
  'END.md': `${FRONT}Use {{result}}, with <result>x</result>.\n`,
};
const PLAIN = {
  'START.sh': 'echo "<goto>WORK</goto>"\n',
  'WORK.md': `${FRONT}\nWork, with <result>x</result>.\n`,
};

/** The agents exist, and write a file when they are started. */
function projectWith(files: Readonly<Record<string, string>>, config: string): Project {
  const own = Object.entries(files).map(([name, text]) => [`flow/${name}`, text]);
  const program = '#!/bin/sh\ntouch "$(dirname "$0")/was-run"\n';
  const project = newProject({ ...Object.fromEntries(own), 'bin/codex': program });
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  writeFileSync(join(project.userConfig, 'config.toml'), config, { mode: 0o600 });
  writeFileSync(join(project.userConfig, 'agent'), program);
  for (const file of [join(project.userConfig, 'agent'), project.path('bin/codex')])
    chmodSync(file, 0o755);
  return project;
}

const FORMS = [
  ['a folder', 'flow', (file: string, line: number) => `flow/${file}:${line}`],
  ['an archive', 'flow.zip', () => 'flow.zip'],
  ['a YAML file', 'flow.yaml', () => 'flow.yaml:'],
] as const;

describe.each(FORMS)('%s', (_, path, where) => {
  async function made(files: Readonly<Record<string, string>>, config: string) {
    const project = projectWith(files, config);
    if (path !== 'flow') await command(project, ['convert', 'flow', path]);
    const env = { RAYMOND_CODEX: project.path('bin/codex') };
    return (...args: readonly string[]) => command(project, args, { env });
  }

  test('a call of an agent that cannot branch', async () => {
    const raymond = await made(CALLS, PRICED);
    const linted = await raymond('lint', path);
    expect(linted.code).toBe(1);
    expect(linted.stdout).toContain(where('START.md', 4));
    expect(linted.stdout).toContain('The agent mine of HELP.md cannot branch a session');
    const started = await raymond(path);
    expect(started.code).toBe(64);
    expect(started.stderr).toContain('The agent mine of HELP.md cannot branch a session');
    expect(started.stderr).toContain(where('START.md', 4));
  });

  test('a call of which one lane cannot branch', async () => {
    const lanes = Object.entries(CALLS).map(([name, text]) => [
      name,
      text.replace('agent: mine', 'agent: [codex, mine]'),
    ]);
    const raymond = await made(Object.fromEntries(lanes), PRICED);
    const linted = await raymond('lint', path);
    expect(linted.code).toBe(1);
    expect(linted.stdout).toContain('The agent mine of HELP.md cannot branch a session');
    const started = await raymond(path);
    expect(started.code).toBe(64);
    expect(started.stderr).toContain('The agent mine of HELP.md cannot branch a session');
  });

  test('lanes that lint knows, in a diagram and in warnings', async () => {
    const lanes = {
      'START.md':
        '---\nagent: [codex, claude]\nmodel: [gpt-a, gpt-b]\n---\nWork, with <goto>NEXT</goto>.\n',
      'NEXT.md': '---\nagent: [codex, codex]\n---\nWork, with <result>x</result>.\n',
    };
    const raymond = await made(lanes, '');
    const linted = await raymond('lint', path);
    expect(linted.code).toBe(0);
    expect(linted.stdout).toContain('[duplicate-lane]');
    expect(linted.stdout).toContain(
      'NEXT belongs to the agent codex, which does not know the session of claude.',
    );
    const drawn = await raymond('diagram', path, '--svg');
    expect(drawn.stdout).toContain('codex, claude');
    expect(drawn.stdout).toContain('gpt-a, gpt-b');
  });

  test('a budget for an agent without a known cost', async () => {
    const raymond = await made(PLAIN, AGENT);
    const linted = await raymond('lint', path);
    expect(linted.code).toBe(0);
    expect(linted.stdout).toContain(where('WORK.md', 4));
    expect(linted.stdout).toContain('[unknown-cost]');
    const started = await raymond(path);
    expect(started.code).toBe(64);
    expect(started.stderr).toContain(where('WORK.md', 4));
    expect(started.stderr).toContain('so a budget cannot limit it');
    expect(started.stderr).toContain('Add price to [agents.mine] in your config file');
  });

  test('--ask-permissions with an agent that cannot ask', async () => {
    const files = { ...PLAIN, 'WORK.md': PLAIN['WORK.md'].replace('mine', 'codex') };
    const raymond = await made(files, '');
    const started = await raymond(path, '--ask-permissions');
    expect(started.code).toBe(64);
    expect(started.stderr).toContain(where('WORK.md', 4));
    expect(started.stderr).toContain('The agent codex of WORK.md cannot follow --ask-permissions.');
    const tools = await raymond(path, '--disallowed-tools', 'Bash');
    expect(tools.stderr).toContain('cannot follow --disallowed-tools');
    expect(tools.stderr).toContain(where('WORK.md', 4));
  });
});

test('a workflow that the first one names is also checked', async () => {
  const project = projectWith(
    { 'START.sh': 'echo "<function-workflow return=\\"END\\">../other</function-workflow>"\n' },
    AGENT,
  );
  project.write('flow/END.sh', 'echo "<result>x</result>"\n');
  project.write('other/START.md', `${FRONT}Work, with <result>x</result>.\n`);
  const started = await command(project, ['flow']);
  expect(started.code).toBe(64);
  expect(started.stderr).toContain('other/START.md:4: The agent mine of START.md reports no cost');
});

test('a model without a price is named, with a remedy, and the run starts', async () => {
  const project = projectWith({ 'START.md': 'Work, with <result>x</result>.\n' }, '');
  const env = { RAYMOND_CODEX: project.path('bin/codex'), RAYMOND_RETRY_PAUSES_MS: '0' };
  const started = (model: string) =>
    command(project, ['flow', '--agent', 'codex', '--model', model], { env });
  expect((await started('gpt-99')).stderr).toContain(
    'No price is known for the model gpt-99 of codex, so Raymond assumes the highest one. Add price."gpt-99" to [agents.codex]',
  );
  expect((await started('gpt-6.1-sol')).stderr).not.toContain('No price');
});

test('the agent is chosen by the state, the workflow, the command line, then the config file', async () => {
  const project = projectWith(
    {
      'workflow.yaml': '',
      'START.md': 'Work, with <result>x</result>.\n',
    },
    `${AGENT}[raymond]\nagent = "mine"\n`,
  );
  const who = async (...args: readonly string[]) =>
    /The agent (\w+) of/.exec((await command(project, ['flow', ...args])).stderr)?.[1];
  const env = { RAYMOND_CODEX: project.path('bin/codex') };
  expect(await who()).toBe('mine');
  const asked = ['flow', '--agent', 'codex', '--ask-permissions'];
  expect((await command(project, asked, { env })).stderr).toContain('The agent codex of START.md');
  project.write('flow/workflow.yaml', 'agent: mine\n');
  expect(await who('--agent', 'codex')).toBe('mine');
  project.write('flow/START.md', '---\nagent: codex\n---\nWork, with <result>x</result>.\n');
  expect((await command(project, ['flow', '--ask-permissions'], { env })).stderr).toContain(
    'The agent codex of START.md',
  );
});

test('a resume refuses what the agents of the run cannot do', async () => {
  const project = projectWith(
    { 'START.md': 'Work.\n<ask next="END">Which?</ask>', 'END.md': 'End.' },
    '',
  );
  const env = { RAYMOND_CODEX: project.path('bin/codex'), RAYMOND_RETRY_PAUSES_MS: '0,0,0' };
  const start = ['flow', '--agent', 'codex', '--workflow-id', 'r'];
  await command(project, start, { env });
  const resumed = await command(project, ['resume', 'r', '--ask-permissions'], { env });
  expect(resumed.code).toBe(64);
  expect(resumed.stderr).toContain('flow/END.md:1: The agent codex of END.md cannot follow');
});
