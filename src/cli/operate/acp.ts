import { resolve } from 'node:path';
import { serveAgent } from '../../acp/server.ts';
import { forPrograms } from '../../app/for-programs.ts';
import { projectWorkflows } from '../../world/project-workflows.ts';
import type { Here } from '../../world/surroundings.ts';
import { RAYMOND_VERSION } from '../../world/version.ts';
import { leaveInput, protocolStreams } from '../terminal/terminal.ts';

/** Serves workflows as an agent on standard input and output until the editor leaves. The runs continue. */
export async function acp(here: Here, workflow: string | undefined): Promise<number> {
  const around = await here();
  // A wrong URL is reported here, not at each prompt.
  await around.world.connect();
  const named = workflow === undefined ? undefined : resolve(around.cwd, workflow);
  await serveAgent({
    ...protocolStreams(),
    ...{ version: RAYMOND_VERSION, workflow: named },
    control: async (directory) =>
      forPrograms(directory === around.cwd ? around : await around.inProject(directory), { named }),
    workflows: projectWorkflows,
    newId: around.newId,
  });
  leaveInput();
  return 0;
}
