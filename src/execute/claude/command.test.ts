import { describe, expect, it } from 'vitest';
import {
  claudeArguments,
  claudeEnvironment,
  interrupt,
  setEffort,
  setModel,
  setPermissionMode,
  type Turn,
  type TurnSession,
  userMessage,
} from './command.ts';

const turn: Turn = { session: { use: 'fresh', id: 'U' }, permission: { mode: 'acceptEdits' } };

describe('the arguments of a turn', () => {
  const sessions: [string, TurnSession, string][] = [
    ['fresh', { use: 'fresh', id: 'U' }, '--session-id U'],
    ['the same session', { use: 'continue', id: 'U' }, '--resume U'],
    [
      'the same session from another directory',
      { use: 'continue', id: 'U', transcript: '/t/U.jsonl' },
      '--resume /t/U.jsonl',
    ],
    [
      'the same session, cut',
      { use: 'continue', id: 'U', at: 'A' },
      '--resume U --resume-session-at A',
    ],
    ['a branch', { use: 'branch', from: 'U', id: 'V' }, '--resume U --fork-session --session-id V'],
    [
      'a branch from another directory, cut',
      { use: 'branch', from: 'U', id: 'V', transcript: '/t/U.jsonl', at: 'A' },
      '--resume /t/U.jsonl --resume-session-at A --fork-session --session-id V',
    ],
  ];
  it.each(sessions)('%s', (_, session, expected) => {
    expect(claudeArguments({ ...turn, session }).join(' ')).toContain(`--verbose ${expected} --p`);
  });

  it('names everything that is asked for, with variadic options last', () => {
    const rules = { allowedTools: ['Read', 'Bash(git log:*)'], disallowedTools: ['Write'] };
    const deny = ['Edit(//a b/**)'];
    const all: Turn = { ...turn, model: 'opus', effort: 'high', budgetUsd: 1.5, ...rules, deny };
    expect(claudeArguments(all).join(' ')).toBe(
      '-p --input-format stream-json --output-format stream-json --verbose --session-id U ' +
        '--model opus --effort high --permission-mode acceptEdits --max-budget-usd 1.500000 ' +
        '--include-partial-messages ' +
        '--settings {"permissions":{"deny":["Edit(//a b/**)"]}} ' +
        '--allowedTools Read Bash(git log:*) ' +
        '--disallowedTools Workflow ScheduleWakeup CronCreate CronDelete CronList Write',
    );
  });

  it('skips permissions only when told to', () => {
    const skipping = claudeArguments({ ...turn, permission: 'skip' });
    expect(skipping).toContain('--dangerously-skip-permissions');
    expect(skipping).not.toContain('--permission-mode');
    expect(claudeArguments(turn)).not.toContain('--dangerously-skip-permissions');
  });

  it.each([
    [0, '0.000001'],
    [-1, '0.000001'],
    [1e-9, '0.000001'],
    [12.345, '12.345000'],
  ])('writes a budget of %d as a positive decimal', (budgetUsd, expected) => {
    const said = claudeArguments({ ...turn, budgetUsd });
    expect(said[said.indexOf('--max-budget-usd') + 1]).toBe(expected);
  });
});

it('keeps the environment, except what belongs to a Claude Code around us', () => {
  const inherited = {
    PATH: '/bin',
    CLAUDE_CODE_CHILD_SESSION: '1',
    UNSET: undefined,
    ANTHROPIC_API_KEY: 'k',
  };
  expect(claudeEnvironment(inherited, { PATH: '/other' })).toEqual({
    PATH: '/other',
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    DISABLE_AUTOUPDATER: '1',
  });
});

describe('the lines on standard input', () => {
  it('gives the prompt as it is, followed by a blank block that keeps it text', () => {
    const line = userMessage('/cost\n@file "x"', 'P');
    expect(line.endsWith('}\n')).toBe(true);
    expect(line.trimEnd()).not.toContain('\n');
    expect(JSON.parse(line)).toEqual({
      type: 'user',
      uuid: 'P',
      message: {
        role: 'user',
        content: [
          { type: 'text', text: '/cost\n@file "x"' },
          { type: 'text', text: ' ' },
        ],
      },
    });
  });

  it.each([
    ['a model', setModel('1', 'opus'), { subtype: 'set_model', model: 'opus' }],
    ['the default model', setModel('1'), { subtype: 'set_model' }],
    [
      'a permission mode',
      setPermissionMode('1', 'plan'),
      { subtype: 'set_permission_mode', mode: 'plan' },
    ],
    [
      'an effort',
      setEffort('1', 'low'),
      { subtype: 'apply_flag_settings', settings: { effortLevel: 'low' } },
    ],
    ['a stop', interrupt('1'), { subtype: 'interrupt' }],
  ])('asks for %s', (_, line, request) => {
    expect(JSON.parse(line)).toEqual({ type: 'control_request', request_id: '1', request });
  });
});
