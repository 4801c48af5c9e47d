// Deliveries to several listeners whose occasions and runs are in one database.
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { startServer } from '../postgres/server.ts';
import { Project, type Started } from '../raymond.ts';
import { deliver, type RunningUp, standardHeaders, startUp } from './up.ts';

const SECRET = "It's a Secret to Everybody";

async function approved(url: string): Promise<Project> {
  const project = new Project(
    {
      'flow/workflow.yaml': 'triggers: [{ webhook: issues, secret: HOOK }]\n',
      'flow/START.sh': `echo "$RAYMOND_WORKFLOW_ID $RAYMOND_INPUT" >> log\necho "<result>ok</result>"\n`,
    },
    'ein Projekt ü',
  );
  onTestFinished(() => project.dispose());
  await project.run(['secret', 'set', 'HOOK'], { input: SECRET });
  const { code } = await project.run(['trust', 'flow', '--yes', '--database', url]);
  expect(code).toBe(0);
  return project;
}

const bodyOf = (id: string) => JSON.stringify({ id });

const post = ({ address }: RunningUp, id: string) =>
  deliver(`${address}/hooks/issues`, bodyOf(id), standardHeaders(SECRET, id, bodyOf(id)));

async function endAll(...processes: readonly Started[]): Promise<void> {
  for (const { child } of processes) child.kill('SIGTERM');
  for (const { ended } of processes) await ended;
}

/** The ids of the deliveries in the database. */
async function recorded(url: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ record: string }>('select record from raymond.occasions');
    return rows.map(({ record }) => JSON.parse(record).occasion.cause.delivery).sort();
  } finally {
    await client.end();
  }
}

const bodies = (project: Project) =>
  project.lines('log').map((line) => line.slice(line.indexOf(' ') + 1));

test('two listeners and three workers: each delivery starts one run, and is in the database first', async () => {
  const url = await newDatabase();
  const project = await approved(url);
  const database = ['--database', url];
  const listeners = [await startUp(project, database), await startUp(project, database)];
  const workers = ['a', 'b', 'c'].map((name) =>
    project.start(['worker', '--name', name, ...database]),
  );
  for (const worker of workers)
    await eventually('it keeps the trigger', () => worker.stderr().includes('): kept'));
  const ids = Array.from({ length: 4 }, (_, n) => `d${n}`);
  for (const id of ids) {
    // To both at the same time, as from a sender that got no reply, and then once more.
    const replies = await Promise.all(listeners.map((listener) => post(listener, id)));
    expect(replies.sort()).toEqual(['200 duplicate', '202 accepted']);
    expect(await recorded(url)).toContain(id);
  }
  for (const listener of listeners) expect(await post(listener, 'd0')).toBe('200 duplicate');
  await eventually('all have run', () => project.lines('log').length === ids.length);
  await eventually('the last one is over', async () => {
    const { stdout } = await project.run(['triggers', '--json', ...database]);
    const { waiting, last } = JSON.parse(stdout);
    return waiting === 0 && last?.outcome === 'over';
  });
  await endAll(...listeners, ...workers);
  expect(bodies(project).sort()).toEqual(ids.map(bodyOf));
  const runs = project.lines('log').map((line) => line.split(' ')[0]);
  expect(new Set(runs).size).toBe(ids.length);
  expect(await recorded(url)).toEqual(ids);
});

test('while the database is away, nothing is accepted, and the repeated delivery starts one run', async () => {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  const url = server.url();
  const project = await approved(url);
  const listener = await startUp(project, ['--database', url]);
  expect(await post(listener, 'before')).toBe('202 accepted');
  await server.stop('immediate');
  expect(await post(listener, 'away')).toBe('503 not-taken');
  await server.start();
  // As a sender does, until it is accepted.
  let reply = '';
  await eventually('it is accepted', async () => {
    reply = await post(listener, 'away');
    return !reply.startsWith('503');
  });
  expect(['202 accepted', '200 duplicate']).toContain(reply);
  expect(await recorded(url)).toEqual(['away', 'before']);
  expect(await post(listener, 'away')).toBe('200 duplicate');
  const worker = project.start(['worker', '--name', 'w', '--database', url]);
  await eventually('both have run', () => project.lines('log').length === 2);
  await endAll(listener, worker);
  expect(listener.stderr()).toContain('A delivery to /hooks/issues failed: ');
  expect(listener.stderr()).not.toContain('secret-password');
  expect(bodies(project).sort()).toEqual([bodyOf('away'), bodyOf('before')].sort());
});
