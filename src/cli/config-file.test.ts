import { expect, test } from 'vitest';
import { UserError } from '../model/user-error.ts';
import { byName } from '../options/chosen-options.ts';
import { pricesFor } from './agents-section.ts';
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

test('the user may name the prices of models, and a project may not', () => {
  const text = '[agents.codex]\nprice."gpt-9" = { input = 2.0, output = 20.0 }';
  const { agent } = readConfig('config.toml', text, 'user');
  expect(pricesFor('codex', agent)).toEqual({ 'gpt-9': { input: 2, cached: 2, output: 20 } });
  expect(pricesFor('claude', agent)).toEqual({});
  expect(() => read(text)).toThrow('[agents]');
  for (const wrong of ['[agents.codex]\nprice.x = 3', '[agents.codx]\nprice = {}', 'agents = 3'])
    expect(() => readConfig('config.toml', wrong, 'user')).toThrow('a wrong value for agents');
});

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
