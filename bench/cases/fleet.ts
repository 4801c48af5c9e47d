import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type PostgresServer, startServer } from '../../test/postgres/server.ts';
import { type BenchCase, Unavailable } from '../frame/case.ts';
import { type Orchestrator, raymond } from '../frame/orchestrator.ts';
import { project } from '../frame/project.ts';

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
    const members = await hire(server, workers, folder);
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

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');

/** Workers that are ready. */
async function hire(
  server: PostgresServer,
  count: number,
  folder: string,
): Promise<readonly ChildProcess[]> {
  const members = Array.from({ length: count }, (_, index) => {
    const state = join(folder, `worker-${index}`);
    const args = [bin, 'worker', '--name', `w${index}`, '--state', state, '--scripts', '8'];
    const env = { ...process.env, RAYMOND_DATABASE: server.url() };
    return spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore' });
  });
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  const isReady = async () => {
    const { rows } = await client
      .query<{ count: number }>('select count(*)::int as count from raymond.workers')
      .catch(() => ({ rows: [] }));
    return rows[0]?.count === count;
  };
  while (!(await isReady())) {
    if (members.some(({ exitCode }) => exitCode !== null)) throw new Error('A worker has ended.');
    await pause(100);
  }
  await client.end();
  return members;
}

async function dismiss(member: ChildProcess): Promise<void> {
  if (member.exitCode !== null) return;
  member.kill('SIGTERM');
  await once(member, 'exit');
}
