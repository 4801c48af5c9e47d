/** The agents that speak the Agent Client Protocol and that Raymond knows by name. */
export interface KnownAgent {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Whether it can branch sessions. Lint starts no program, so it cannot ask. */
  readonly branch: boolean;
  /** How to install it: the first part of a remedy. */
  readonly install: string;
}

export const KNOWN_ACP: Readonly<Record<string, KnownAgent>> = {
  gemini: {
    command: ['gemini', '--acp'],
    branch: false,
    install: 'Install it with "npm install -g @google/gemini-cli",',
  },
  opencode: {
    command: ['opencode', 'acp'],
    branch: true,
    install: 'Install it with "npm install -g opencode-ai",',
  },
};
