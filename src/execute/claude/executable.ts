import { type Executable, findProgram } from '../find-program.ts';

/** Looks in RAYMOND_CLAUDE, then in the configuration, then on the PATH. */
export function findClaude(
  configured: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Executable {
  return findProgram({
    name: 'claude',
    variable: 'RAYMOND_CLAUDE',
    configKey: 'claude_path',
    configured,
    environment,
    notInstalled: {
      problem: 'Claude Code (the program "claude") is not on the PATH.',
      remedy:
        'Install it with "npm install -g @anthropic-ai/claude-code", or name it in RAYMOND_CLAUDE or as claude_path in the config file.',
    },
  });
}
