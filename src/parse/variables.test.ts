import { describe, expect, test } from 'vitest';
import { STEERING_VARIABLES } from '../../test/steering-variables.ts';
import { agentVariableProblem, variableProblem } from './variables.ts';

test.each([
  'item',
  'ITEM',
  '_x',
  'a1',
  'next_item',
  'constructor',
  'path_to_file',
  'homepage',
  'env',
  'git_branch',
  'temp',
  'NODE_ENV',
  'AWS_REGION',
  'TZ',
])('%s may be a variable', (name) => expect(variableProblem(name)).toBeUndefined());

test.each([
  ['', 'cannot be a variable'],
  ['1a', 'cannot be a variable'],
  ['a-b', 'cannot be a variable'],
  ['a b', 'cannot be a variable'],
  ['a=b', 'cannot be a variable'],
  ['é', 'cannot be a variable'],
  ['a\n', 'cannot be a variable'],
  ['a'.repeat(201), 'cannot be a variable'],
  ['__proto__', 'cannot be a variable'],
  ...['result', 'input', 'workflow_id', 'agent_id', 'state', 'task_folder'].map((name) => [
    name,
    'Raymond fills in',
  ]),
  ...[
    'PATH',
    'Path',
    'HOME',
    'IFS',
    'ENV',
    'BASH_ENV',
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'RAYMOND_STATE',
    'node_options',
    'http_proxy',
    'npm_config_registry',
    'BASH_FUNC_ls',
    'GIT_SSH_COMMAND',
    'ANTHROPIC_API_KEY',
    'CLAUDE_CONFIG_DIR',
    'ANTHROPIC_MODEL',
    'OPENCODE_PERMISSION',
    'OPENCODE_ANYTHING_NEW',
    'opencode_permission',
    'CODEX_HOME',
    'OPENAI_BASE_URL',
    'GEMINI_API_KEY',
    'QWEN_MODEL',
    'PI_CODING_AGENT_DIR',
    'COPILOT_ALLOW_ALL',
    'ACP_X',
    'IS_SANDBOX',
    'PYTHONPATH',
    'PYTHONBREAKPOINT',
    'PROMPT_COMMAND',
    'GCONV_PATH',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'NO_PROXY',
    'TAR_OPTIONS',
    'MAKEFLAGS',
    'Npm_Config_Registry',
    'yarn_registry',
    'socks_proxy',
    'raymond_state',
  ].map((name) => [name, 'would change how programs run']),
])('%j must not be a variable: %s', (name, problem) =>
  expect(variableProblem(name ?? '')).toContain(problem),
);

describe('a name that an agent chooses', () => {
  const environment = new Set(['my_level', 'username']);
  const problem = (name: string) => agentVariableProblem(name, environment);

  test.each(['item', 'file', 'name', 'issue', 'branch', 'user', 'a1', 'itemName', 'page_number'])(
    '%s may be a variable',
    (name) => expect(problem(name)).toBeUndefined(),
  );

  test.each([
    ['ITEM', 'lower-case letter'],
    ['Item', 'lower-case letter'],
    ['_item', 'lower-case letter'],
    ['my_level', 'variable of the environment'],
    ['userName', 'variable of the environment'],
    ['result', 'Raymond fills in'],
    ['a-b', 'cannot be a variable'],
    ['path', 'would change how programs run'],
    ['tar_options', 'would change how programs run'],
    ['pythonPath', 'would change how programs run'],
    ['git_ssh_command', 'would change how programs run'],
    ['kubeconfig', 'would change how programs run'],
  ])('%s must not be a variable: %s', (name, why) => expect(problem(name)).toContain(why));

  test('a name that affects programs is refused in any spelling', () => {
    expect(STEERING_VARIABLES.length).toBeGreaterThan(400);
    const spellings = STEERING_VARIABLES.flatMap((name) => [
      name,
      name.toLowerCase(),
      name.toUpperCase(),
      name.charAt(0).toLowerCase() + name.slice(1),
    ]);
    expect(spellings.filter((name) => agentVariableProblem(name, new Set()) === undefined)).toEqual(
      [],
    );
  });
});
