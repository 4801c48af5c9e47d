import { expect, test } from 'vitest';
import { variableProblem } from './variables.ts';

test.each(['item', 'ITEM', '_x', 'a1', 'next_item', 'constructor', 'path_to_file', 'homepage'])(
  '%s may be a variable',
  (name) => expect(variableProblem(name)).toBeUndefined(),
);

test.each([
  ['', 'cannot be a variable'],
  ['1a', 'cannot be a variable'],
  ['a-b', 'cannot be a variable'],
  ['a b', 'cannot be a variable'],
  ['a=b', 'cannot be a variable'],
  ['é', 'cannot be a variable'],
  ['a\n', 'cannot be a variable'],
  ['__proto__', 'cannot be a variable'],
  ...['result', 'input', 'workflow_id', 'agent_id', 'state', 'task_folder'].map((name) => [
    name,
    'Raymond itself fills',
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
    'raymond_x',
    'BASH_FUNC_ls',
    'GIT_SSH_COMMAND',
    'ANTHROPIC_API_KEY',
    'CLAUDE_CONFIG_DIR',
    'PYTHONPATH',
    'PYTHONBREAKPOINT',
    'PROMPT_COMMAND',
    'GCONV_PATH',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'NO_PROXY',
  ].map((name) => [name, 'would change how programs run']),
])('%j may not: %s', (name, problem) => expect(variableProblem(name ?? '')).toContain(problem));
