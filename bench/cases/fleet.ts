import { once } from 'node:events';
import { type PostgresServer, startServer } from '../../test/postgres/server.ts';
import { type BenchCase, Unavailable } from '../frame/case.ts';
import { type Orchestrator, raymond } from '../frame/orchestrator.ts';
import { project } from '../frame/project.ts';
import { dismiss, hire } from '../frame/workers.ts';

const RUNS = 8;
const STEPS = 40;

/** Steps of several runs at once, carried by a fleet. Each run has a directory of its own. */
export const fleet: readonly BenchCase[] = [1, 2, 4, 8].map((workers) => ({
  name: `fleet-${workers}`,
  title: `script step of ${RUNS} runs at once, in PostgreSQL, ${workers} worker${workers === 1 ? '' : 's'}`,
  floor: 'the same runs in files',
  unit: 'ms',
  limits: 'ratio',
  target: 3,
  comparable: false,
  rounds: 3,
  async prepare({ folder }) {
    const flow = project(folder, {
      'START.sh': `read -r n <"$RAYMOND_WORKFLOW_ID.n" 2>/dev/null || n=0
n=$((n + 1)); echo $n >"$RAYMOND_WORKFLOW_ID.n"
if [ $n -lt ${STEPS} ]; then echo '<reset>START</reset>'; else echo '<result>done</result>'; fi
`,
    });
    const server = await started();
    const members = await hire(server.url(), workers, folder);
    const environment = { RAYMOND_DATABASE: server.url() };
    const place = { project: flow, workflow: '.' };
    return {
      floor: () => perStep(raymond, { ...place, options: ['--database', 'none'] }),
      ours: (orchestrator) =>
        perStep(orchestrator, { ...place, environment, options: ['--shared-directory'] }),
      async close() {
        await Promise.all(members.map(dismiss));
        await server.dispose();
      },
    };
  },
}));

async function started(): Promise<PostgresServer> {
  try {
    return await startServer({ isDurable: true });
  } catch (error) {
    throw new Unavailable(error instanceof Error ? error.message : String(error));
  }
}

/** All runs begin at the same time. */
async function perStep(
  orchestrator: Orchestrator,
  task: Parameters<Orchestrator['start']>[0],
): Promise<number> {
  const begin = performance.now();
  const runs = Array.from({ length: RUNS }, () => orchestrator.start(task));
  const codes = await Promise.all(runs.map(async (run) => (await once(run, 'exit'))[0]));
  if (codes.some((code) => code !== 0)) throw new Error(`exited with ${codes.join(', ')}`);
  return (performance.now() - begin) / (RUNS * STEPS);
}
