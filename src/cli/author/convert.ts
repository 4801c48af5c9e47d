import { namedWorkflows } from '../../graph/named-workflows.ts';
import { convert as write } from '../../load/convert.ts';
import type { Here } from '../../world/surroundings.ts';
import { configuredLibrary } from '../../world/wire.ts';
import { stdout } from '../terminal/terminal.ts';
import { refuseLinkedPlace } from './linked-place.ts';

/** Writes a workflow in another form, and prints the paths of the new files. */
export async function convert(
  here: Here,
  from: string,
  to: string,
  { force = false }: { readonly force?: boolean },
): Promise<number> {
  refuseLinkedPlace(to);
  const workflow = await (await configuredLibrary(here)).load(from);
  const paths = namedWorkflows(workflow);
  const written = await write({
    from,
    to,
    cwd: process.cwd(),
    agents: workflow.agents,
    paths,
    force,
  });
  stdout.say(...written.map((path) => `Wrote ${path}`));
  return 0;
}
