import { describe, expect, it } from 'vitest';
import {
  claudeArguments,
  claudeEnvironment,
  ownModelArguments,
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

  it('contain everything that the turn asks for, with variadic options last', () => {
    const rules = { allowedTools: ['Read', 'Bash(git log:*)'], disallowedTools: ['Write'] };
    const deny = ['Edit(//a b/**)'];
    const all: Turn = { ...turn, model: 'opus', effort: 'high', budgetUsd: 1.5, ...rules, deny };
    expect(claudeArguments(all).join(' ')).toBe(
      '-p --input-format stream-json --output-format stream-json --verbose --session-id U ' +
        '--model opus --effort high --permission-mode acceptEdits --max-budget-usd 1.500000 ' +
        '--include-partial-messages --replay-user-messages ' +
        '--settings {"permissions":{"deny":["Edit(//a b/**)"]}} ' +
        '--allowedTools Read Bash(git log:*) ' +
        '--disallowedTools Workflow ScheduleWakeup CronCreate CronDelete CronList Write',
    );
  });

  const ours = ['Edit(//a (b), c/**)'];
  it.each<[string, Turn['options'], string]>([
    ['none', undefined, '--settings {"permissions":{"deny":["Edit(//a (b), c/**)"]}} --dis'],
    [
      'settings: the rules of both, and once more where no setting can undo them',
      { settings: { model: 'x', permissions: { allow: ['Read'], deny: ['Bash', '-p'] } } },
      '--settings {"model":"x","permissions":{"allow":["Read"],' +
        '"deny":["Bash","-p","Edit(//a (b), c/**)"]}} ' +
        `--disallowedTools ${'Workflow ScheduleWakeup CronCreate CronDelete CronList'} ` +
        'Bash Edit(//a ?b?, c/**)',
    ],
    ['MCP servers', { mcpConfig: ['/a.json', '{}'] }, '--mcp-config /a.json {} --dis'],
    ['folders', { addDir: ['/a', '/b c'] }, '--add-dir /a /b c --dis'],
    ['a system prompt', { appendSystemPrompt: '-p' }, '--append-system-prompt=-p --settings'],
    [
      'further arguments',
      { agentArgs: ['--no-chrome', '--agent=x'] },
      'messages --no-chrome --agent=x --s',
    ],
  ])('options of the run: %s', (_, options, expected) => {
    const all = { ...turn, deny: ours, ...(options && { options }) };
    expect(claudeArguments(all).join(' ')).toContain(expected);
  });

  it('ask for the own model with the settings of the run, without hooks', () => {
    const options = {
      settings: { model: 'x', disableAllHooks: false },
      agentArgs: ['--no-chrome'],
    };
    const asked = ownModelArguments(options, false).join(' ');
    expect(asked).toContain('--no-chrome --strict-mcp-config --settings');
    expect(asked).toContain('{"model":"x","disableAllHooks":true}');
  });

  it('load the settings of the project only on request, or if the user names the kinds', () => {
    const user = '--setting-sources user';
    expect(claudeArguments(turn).join(' ')).not.toContain('--setting-sources');
    expect(claudeArguments({ ...turn, skipsProject: true }).join(' ')).toContain(user);
    expect(ownModelArguments({}, true).join(' ')).toContain(user);
    const options = { agentArgs: ['--setting-sources=user,project'] };
    expect(claudeArguments({ ...turn, skipsProject: true, options })).not.toContain('user');
    expect(ownModelArguments(options, true)).not.toContain('user');
  });

  it('skip permissions only on request', () => {
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
  ])('write a budget of %d as a positive decimal', (budgetUsd, expected) => {
    const args = claudeArguments({ ...turn, budgetUsd });
    expect(args[args.indexOf('--max-budget-usd') + 1]).toBe(expected);
  });
});

it('keeps the environment, except the variables of an outer Claude Code', () => {
  const inherited = {
    PATH: '/bin',
    CLAUDE_CODE_CHILD_SESSION: '1',
    UNSET: undefined,
    ANTHROPIC_API_KEY: 'k',
  };
  expect(claudeEnvironment(inherited, { PATH: '/other' })).toEqual({
    DISABLE_AUTO_COMPACT: '1',
    PATH: '/other',
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    DISABLE_AUTOUPDATER: '1',
  });
});

describe('the lines on standard input', () => {
  it('contain the unchanged prompt, followed by a blank block that keeps it text', () => {
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
  ])('request %s', (_, line, request) => {
    expect(JSON.parse(line)).toEqual({ type: 'control_request', request_id: '1', request });
  });
});
