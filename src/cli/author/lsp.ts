import { AGENTS } from '../../execute/agents/agents.ts';
import { serveEditor } from '../../lsp/server.ts';
import type { Agents } from '../../model/agent.ts';
import { UserError } from '../../model/user-error.ts';
import type { Here } from '../../world/surroundings.ts';
import { RAYMOND_VERSION } from '../../world/version.ts';
import { configuredAgents, platform } from '../../world/wire.ts';
import { leaveInput, protocolStreams, stderr } from '../terminal/terminal.ts';

/** Serves an editor on standard input and output, until it leaves. */
export async function lsp(here: Here): Promise<number> {
  const code = await serveEditor({
    ...protocolStreams(),
    ...{ platform, version: RAYMOND_VERSION },
    agents: () => agentsOf(here),
    report: (text) => stderr.say(text),
  });
  leaveInput();
  return code;
}

/** A mistake in a config file must not leave the author without help for the workflow. */
async function agentsOf(here: Here): Promise<Agents> {
  try {
    return await configuredAgents(here);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    stderr.error(error);
    return AGENTS;
  }
}
