import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forPrograms } from '../../app/for-programs.ts';
import { knownProjects } from '../../app/inbox.ts';
import { pastRuns } from '../../app/past-runs.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { ServeParts } from '../../serve/answers.ts';
import { startServer } from '../../serve/server.ts';
import { agent } from '../../world/agent.ts';
import { projectWorkflows } from '../../world/project-workflows.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { RAYMOND_VERSION } from '../../world/version.ts';
import { configuredLibrary } from '../../world/wire.ts';
import { reportError } from '../terminal/report-error.ts';
import { onSignals } from '../terminal/signals.ts';
import { stderr, stdout } from '../terminal/terminal.ts';

export interface ServeOptions {
  readonly port?: string;
  readonly json?: boolean;
}

/** Serves the page and the API until a signal ends it. It owns no run, so its end ends none. */
export async function serve(here: Here, options: ServeOptions): Promise<number> {
  const server = await openPage(await here(), options.port);
  // Before the address is printed, because its reader may end the server immediately.
  const ended = new Promise<void>((resolve) => {
    const end = onSignals(() => {
      end();
      resolve();
    });
  });
  const { address, port, token } = server;
  if (options.json) stdout.json({ address, port, token });
  else {
    await stdout.document(`${address}\n`);
    stderr.say('Open this address in a browser. Ctrl-C ends the server, but no run.');
  }
  await ended;
  await server.close();
  return 0;
}

/** The caller closes it. */
export async function openPage(around: Surroundings, port: string | undefined) {
  return startServer(await partsOf(around), portOf(port), {
    known: () => knownProjects(around),
    open: async (folder) => partsOf(await around.inProject(folder)),
  });
}

async function partsOf(around: Surroundings): Promise<ServeParts> {
  // A wrong URL is reported here, not at each request of a page that shows nothing.
  await around.world.connect();
  const { cwd, store, world, clock } = around;
  return {
    project: dirname(around.project.folder),
    store,
    control: forPrograms(around),
    steps: await world.steps(),
    async workflow(ref, run) {
      // A variant may have other texts of states than the folder of its workflow.
      const stored = run?.origin || run?.cell ? await world.sources(run) : undefined;
      return (await configuredLibrary(async () => around, cwd, stored)).load(ref);
    },
    workflows: () => projectWorkflows(cwd),
    pasts: (workflow, files) => pastRuns(store, workflow, files),
    page: pageFile,
    now: clock.now,
    alarmsOf: agent.alarmsOf,
    version: RAYMOND_VERSION,
    report: reportError,
  };
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw wrongUsage(`--port is "${text}".`, 'Write a number from 0 to 65535; 0 is any free port.');
}

/** The build puts the page beside the program. */
async function pageFile(name: string): Promise<string | undefined> {
  const file = fileURLToPath(new URL(`page/${name}`, import.meta.url));
  return readFile(file, 'utf8').catch(() => undefined);
}
