/** The run options of codex, by the name of the choice. Others are shared with all agents. */
import type { OptionSpec } from '../../model/option.ts';

export const CODEX_OPTIONS = {
  codexPath: {
    name: 'codex-path',
    kind: 'text',
    meaning: 'the codex executable, if it is not the one in PATH; RAYMOND_CODEX overrides it',
    example: '"/usr/local/bin/codex"',
    only: 'config',
    path: 'program',
    inProject: 'dangerous',
  },
} as const satisfies Readonly<Record<string, OptionSpec>>;
