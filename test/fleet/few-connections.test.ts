// A server with few connections. Each test has its own.
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { startServer } from '../postgres/server.ts';
import { Fleet } from './fleet.ts';

const FILES = { 'flow/START.sh': 'echo "<result>done</result>"\n' };

async function ownFleet(maxConnections: number) {
  const server = await startServer({ maxConnections });
  onTestFinished(() => server.dispose());
  const fleet = await Fleet.open(server.url(), FILES);
  onTestFinished(() => fleet.dispose());
  const raymond = (...args: readonly string[]) =>
    fleet.project.start(args, { env: { RAYMOND_DATABASE: fleet.url } });
  const connections = async () => {
    const rows = await fleet.database.query(
      "select from pg_stat_activity where application_name like 'raymond%'",
    );
    return rows.length;
  };
  return { fleet, raymond, connections };
}

test('workers leave connections to commands that store runs', async () => {
  const { fleet, raymond, connections } = await ownFleet(16);
  for (let number = 1; number <= 5; number++) fleet.worker(`w${number}`);
  await eventually('all workers live', async () => {
    const rows = await fleet.database.query('select from raymond.workers');
    return rows.length === 5;
  });
  const commands = Array.from({ length: 4 }, (_, n) =>
    raymond('flow', '--detach', '--shared-directory', '--workflow-id', `run${n}`),
  );
  for (const { ended } of commands) expect(await ended).toMatchObject({ code: 0 });
  for (let n = 0; n < 4; n++)
    expect(await fleet.ended(`run${n}`)).toMatchObject({ result: 'done' });
  // Two for each worker, two for the schedule, and one of this test.
  expect(await connections()).toBeLessThanOrEqual(14);
  const { stdout } = await raymond('list', '--workers', '--json').ended;
  const workers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(workers).toHaveLength(5);
  expect(workers[0]).toMatchObject({ name: 'w1', lease_ms: 60_000, lease_is_short: false });
});

test('a command says that it waits for a connection', async () => {
  const { fleet, raymond } = await ownFleet(6);
  // Otherwise the connection of this test, which it does not use meanwhile, becomes free on a busy machine.
  let giveBack = () => {};
  const ownConnection = fleet.database.transaction(async ({ query }) => {
    await query('select 1');
    await new Promise<void>((resolve) => {
      giveBack = resolve;
    });
  });
  const hogs: pg.Client[] = [];
  for (;;) {
    const hog = new pg.Client({ connectionString: fleet.url });
    hog.on('error', () => {});
    try {
      await hog.connect();
    } catch {
      break;
    }
    hogs.push(hog);
  }
  const command = raymond('list');
  await eventually('the command says why it waits', () =>
    /^Raymond waits for a free connection of the database \S+ at \S+: all are in use\.\n/.test(
      command.stderr(),
    ),
  );
  for (const hog of hogs) await hog.end();
  giveBack();
  await ownConnection;
  expect(await command.ended).toMatchObject({ code: 0 });
  const { stdout } = await raymond('doctor').ended;
  // Two of them are for the schedule, and one for doctor itself.
  expect(stdout).toMatch(
    /^warning {2}database +the database \S+ at \S+ has [23] of 6 connections free; a worker needs 2 to 9\.\n +Raise max_connections of the server, or end programs that use it\.$/m,
  );
});
