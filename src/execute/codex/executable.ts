import { type Executable, findProgram } from '../find-program.ts';

/** Looks in RAYMOND_CODEX, then in the configuration, then on the PATH. */
export function findCodex(
  configured: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Executable {
  return findProgram({
    name: 'codex',
    variable: 'RAYMOND_CODEX',
    configKey: 'codex_path',
    configured,
    environment,
    notInstalled: {
      problem: 'Codex (the program "codex") is not on the PATH.',
      remedy:
        'Install it with "npm install -g @openai/codex", or name it in RAYMOND_CODEX or as codex_path in the config file.',
    },
  });
}
