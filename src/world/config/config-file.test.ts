import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UserError } from '../../model/user-error.ts';
import { byName } from '../../options/chosen-options.ts';
import { configTemplate, readConfig } from './config-file.ts';
import { CONFIG_OPTIONS } from './option-table.ts';

const read = (text: string) => readConfig('config.toml', text);

test('keys are the names of options, with underscores', () => {
  const text =
    '[raymond]\nbudget = 50.0\nmax_parallel = 3\nfail_fast = true\nclaude_path = "/x"\nset = ["a=1"]';
  expect(read(text)).toEqual({
    budget: 50,
    maxParallel: 3,
    failFast: true,
    set: ['a=1'],
    agent: { claudePath: '/x' },
  });
});

test('a switch has two names', () => {
  const text = '[raymond]\nwait = false\nno_warm = true\nno_quiet = false';
  expect(read(text)).toEqual({ wait: false, warm: false, quiet: true });
});

test('a section adds an agent, or prices the models of a known one', () => {
  const text = `[agents.mine]
command = 'bin/my-agent --acp "two words"'
protocol = "acp"
branch = true
price."m 1" = { input = 1.0, output = 2.0 }
[agents.codex]
price."gpt-9" = { input = 2.0, cached = 0.5, output = 20.0 }`.replace('m 1', 'm-1');
  expect(readConfig('config.toml', text, '/home/ann/my files').agents).toEqual({
    mine: {
      command: ['/home/ann/my files/bin/my-agent', '--acp', 'two words'],
      branch: true,
      prices: { 'm-1': { input: 1, cached: 1, output: 2 } },
    },
    codex: { prices: { 'gpt-9': { input: 2, cached: 0.5, output: 20 } } },
  });
  const named = readConfig('c', '[agents.mine]\ncommand = ["my-agent", "a b"]').agents;
  expect(named).toEqual({ mine: { command: ['my-agent', 'a b'], prices: {} } });
});

test('a section says what an agent needs in a sandbox', () => {
  const text = '[agents.claude]\nhosts = ["a.example:443"]\nwrites = ["~/x", "/y"]';
  expect(readConfig('config.toml', text).agents).toEqual({
    claude: { hosts: ['a.example:443'], writes: [join(homedir(), 'x'), '/y'], prices: {} },
  });
});

const MINE = '[agents.mine]\ncommand = "x"\n';

test.each([
  ['agents = 3', 'line 1', 'a wrong value for agents', 'Write sections like [agents.mine].'],
  ['[agents]\nmine = 3', 'line 2', 'agents.mine', 'Write [agents.mine], and below it'],
  ['[agents."my agent"]\ncommand = "x"', 'line 1', '"my agent"', 'Begin with a letter'],
  ['[agents.constructor]\nbranch = true', 'line 1', 'no command', 'Write [agents.constructor]'],
  [`${MINE}comand = "y"`, 'line 3', 'unknown key "comand"', 'Did you mean command?'],
  [`${MINE}speed = 3`, 'line 3', 'unknown key "speed"', 'Write one of command, protocol'],
  ['[agents.mine]\ncommand = "x \'y"', 'line 2', 'agents.mine.command', 'command = "my-agent'],
  ['[agents.mine]\ncommand = []', 'line 2', 'agents.mine.command', 'command = "my-agent'],
  [`${MINE}protocol = "http"`, 'line 3', 'agents.mine.protocol', 'Write protocol = "acp"'],
  [`${MINE}branch = "yes"`, 'line 3', 'agents.mine.branch', 'Write true or false.'],
  [`${MINE}hosts = ["https://a"]`, 'line 3', 'agents.mine.hosts', 'hosts = ["api.example.com'],
  [`${MINE}writes = "x"`, 'line 3', 'agents.mine.writes', 'writes = ["~/.my-agent"]'],
  [`${MINE}price = 3`, 'line 3', 'agents.mine.price', 'in USD per million tokens'],
  [`${MINE}\n[agents.mine.price]\nm = { input = 1 }`, 'line 5', 'price.m', 'in USD per million'],
  [`${MINE}price."a.b" = { input = -1, output = 1 }`, 'line 3', 'price.a.b', 'in USD per million'],
  ['[agents.codx]\nprice.x = { input = 1, output = 1 }', 'line 1', 'codx', 'Did you mean codex?'],
  ['[agents.codex]\ncommand = "codex"', 'line 2', 'command for codex', 'set codex_path'],
  ['[agents.claude]\nprice = {}', 'line 2', 'prices for claude', 'Remove them.'],
])('%j is refused with its line, and a remedy', (text, line, fact, remedy) => {
  const error = refusalOf(() => read(text));
  expect(error.message).toContain(`config.toml, ${line}, has `);
  expect(error.message).toContain(fact);
  expect(error.remedy).toContain(remedy);
});

function refusalOf(reading: () => unknown): UserError {
  try {
    reading();
  } catch (error) {
    if (error instanceof UserError) return error;
  }
  throw new Error('It was not refused.');
}

test.each([
  ['[raymond]\nwait = true\nno_wait = false', 'line 3', 'Keep one of them.'],
  ['[raymond]\nwait = true\nwai = false', 'line 3', 'Did you mean wait?'],
  ['[raymond]\nno_weit = true', 'line 2', 'Did you mean no_wait?'],
  ['[raymond]\nbugdet = 5', 'line 2', 'Did you mean budget?'],
  ['[raymond]\n\nbudget = "5"', 'line 3', 'Write a number, like 10.0.'],
  ['[raymond]\nbudget = -5', 'line 2', 'Write a number that is not negative, like 10.0.'],
  ['[raymond]\nfail_fast = 1', 'line 2', 'Write true or false, like false.'],
  ['[raymond]\nmodel = "--help"', 'line 2', 'Name a model such as opus, like "sonnet".'],
  ['[raymond]\nmodel = "sonet"', 'line 2', 'Did you mean sonnet?'],
  ['budget = 5', 'line 1', 'Move it under [raymond], or remove it.'],
  ['[raymond]\nbudget = = 5', 'line 2', 'Fix the line.'],
  ['raymond = 3', 'line 1', 'Write [raymond] above the keys.'],
  ['[raymond]\nworkflow_id = "x"', 'line 2', 'Remove it.'],
])('%j is refused with its line and a remedy', (text, line, remedy) => {
  try {
    read(text);
    expect.fail('It was accepted.');
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    if (error instanceof UserError) {
      expect(error.message).toContain(`config.toml, ${line}`);
      expect(error.remedy).toBe(remedy);
    }
  }
});

test('the template has every option, changes nothing as it is, and is valid when uncommented', () => {
  const template = configTemplate();
  expect(read(template)).toEqual({});
  const uncommented = template.replace(/^# (\w+ = )/gm, '$1');
  const names = Object.keys(byName(read(uncommented), CONFIG_OPTIONS));
  expect(names).toHaveLength(CONFIG_OPTIONS.length);
});
