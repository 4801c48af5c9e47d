import { describe, expect, test } from 'vitest';
import { readAgentArgs } from './agent-args.ts';

const read = (text: string) => readAgentArgs(text, '/project');

test.each<[string, readonly string[]]>([
  ['', []],
  ['  ', []],
  ['--no-chrome', ['--no-chrome']],
  ['--agent reviewer --no-chrome', ['--agent=reviewer', '--no-chrome']],
  ['--agent=reviewer', ['--agent=reviewer']],
  [`--system-prompt 'Be "brief".'`, ['--system-prompt=Be "brief".']],
  ['--system-prompt "a \\"b\\" \\n"', ['--system-prompt=a "b" \\n']],
  ['--system-prompt a\\ b', ['--system-prompt=a b']],
  ['--system-prompt ""', ['--system-prompt=']],
  ['--system-prompt=--print', ['--system-prompt=--print']],
  ['--tools Read Write --no-chrome', ['--tools=Read', '--tools=Write', '--no-chrome']],
  ['--plugin-dir plugins/a', ['--plugin-dir=/project/plugins/a']],
  ['--plugin-dir=/a', ['--plugin-dir=/a']],
])('%j is passed on as %j', (text, expected) => {
  expect(read(text)).toEqual(expected);
});

describe('refuses an option that Raymond sets itself, and names the remedy', () => {
  const INSTEAD: readonly [string, string][] = [
    ...['-p', '--print', '--output-format', '--input-format', '--verbose'].map(use('--json')),
    ...['--include-partial-messages', '--replay-user-messages'].map(use('--json')),
    ...['--session-id', '--resume', '-r', '--continue', '-c'].map(use('raymond resume')),
    ...['--fork-session', '--resume-session-at'].map(use('raymond resume')),
    ...['--no-session-persistence', '--from-pr'].map(use('raymond resume')),
    ...['--permission-mode', '--permission-prompt-tool'].map(use('--permission-mode')),
    ...['--dangerously-skip-permissions', '--allow-dangerously-skip-permissions'].map(
      use('Give --dangerously-skip-permissions to Raymond'),
    ),
    ['--max-budget-usd', 'Give --budget to Raymond'],
    ...['--allowedTools', '--allowed-tools'].map(use('Give --allowed-tools to Raymond')),
    ...['--disallowedTools', '--disallowed-tools'].map(use('Give --disallowed-tools to Raymond')),
    ...['--model', '--effort', '--settings', '--mcp-config', '--add-dir'].map(itself),
    itself('--append-system-prompt'),
  ];
  test.each(INSTEAD)('%s', (name, instead) => {
    const long = name.startsWith('--') ? [`${name}=x`] : [];
    for (const text of [name, `${name} x`, `--no-chrome ${name}`, `"${name}"`, ...long])
      expect(() => read(text)).toThrow(
        expect.objectContaining({
          message: expect.stringContaining(`contains ${name}, which Raymond sets itself`),
          remedy: expect.stringContaining(instead),
        }),
      );
  });
});

test.each([
  ['Do something else.', /would read as a prompt/],
  ['--no-chrome prompt', /"prompt", which the agent would read as a prompt/],
  ['--agent a prompt', /"prompt"/],
  ['--', /does not pass on/],
  ['-pc', /-pc, which Raymond does not pass on/],
  ['--prin', /--prin, which Raymond does not pass on/],
  ['--dangerously-skip', /does not pass on/],
  ['--worktree', /does not pass on/],
  ['--agent', /--agent has no value/],
  ['--agent --print', /--agent has no value/],
  ['--no-chrome=1', /--no-chrome takes no value/],
  [`--agent 'a`, /ends inside a quote/],
  ['--agent "a', /ends inside a quote/],
  ['--agent a\\', /after a backslash/],
])('refuses %j', (text, why) => {
  expect(() => read(text)).toThrow(why);
});

function use(instead: string) {
  return (name: string): [string, string] => [name, instead];
}

function itself(name: string): [string, string] {
  return [name, `Give ${name} to Raymond`];
}
