/** Declares what an agent that speaks the Agent Client Protocol can do. */
import type { AgentDeclaration } from '../../model/agent.ts';

export interface AcpAgent {
  readonly name: string;
  readonly branch: boolean;
}

export function acpAgent({ name, branch }: AcpAgent): AgentDeclaration {
  return {
    name,
    can: { branch, adopt: false, cost: 'tokens', budget: false, permissions: true, ask: true },
    choices: [],
    faults: {},
    combine: ({ run }) => run,
    tightened: () => undefined,
  };
}
