/** Declares what codex can do, and which choices it offers. */
import type { AgentDeclaration } from '../../model/agent.ts';
import type { OptionSpec } from '../../model/option.ts';
import { refusesTools, SHARED_CHOICES, sharedRules } from '../agents/agent-choices.ts';

/** The run options of codex, by the name of the choice. Others are shared with all agents. */
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

export const codexAgent: AgentDeclaration = {
  name: 'codex',
  provider: 'openai',
  can: {
    branch: true,
    adopt: true,
    cost: 'tokens',
    budget: false,
    permissions: true,
    ask: false,
    travel: true,
  },
  choices: [
    ...Object.values(SHARED_CHOICES),
    { name: 'codexPath', option: CODEX_OPTIONS.codexPath },
  ],
  // Codex loads them only in projects that the user has trusted in codex itself.
  projectSettings: { names: [], skips: [] },
  faults: {},
  ...sharedRules('codex'),
  refusal: refusesTools,
};
