// What people see of the way between a worker and its database.
import { hostname } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { startProxy } from '../postgres/proxy.ts';
import { Fleet } from './fleet.ts';

const FILES = {
  'flow/START.sh': `n=$(( \${RAYMOND_RESULT:-0} + 1 ))
if [ $n -lt 3 ]; then echo "<reset input=\\"$n\\">START.sh</reset>"; else echo "<result>$n</result>"; fi
`,
};

/** 400 ms to 5 s, so that a lease of 4 s is too short. */
const FAR = String.raw`(?:[4-9]\d\d ms|[1-4]\.\d s)`;
const WARNING = new RegExp(
  String.raw`^(?:far: )?A round trip to the database takes ${FAR}, so a lease of 4 s is short: a worker that has to replace its connection may lose its steps\. Use --lease \d+ or more\.$`,
  'm',
);

test('a worker and the list of workers say how far the database is, and warn of a short lease', async () => {
  const fleet = await Fleet.open(await newDatabase(), FILES);
  onTestFinished(() => fleet.dispose());
  const list = async () => {
    const env = { RAYMOND_DATABASE: fleet.url };
    const { code, stdout, stderr } = await fleet.project.run(['list', '--workers'], { env });
    expect(code).toBe(0);
    return { lines: stdout.split('\n'), stderr };
  };
  expect(await list()).toEqual({
    lines: [''],
    stderr: 'No worker executes steps. To start one: raymond worker\n',
  });

  const network = await startProxy(fleet.url);
  onTestFinished(() => network.close());
  const env = { RAYMOND_DATABASE: network.url };
  const worker = fleet.worker('far', ['--lease', '4'], env);
  await fleet.ended(await fleet.begin('flow'));
  expect(worker.stderr()).toMatch(/^A round trip to the database takes \d+ ms\.$/m);
  network.slow(450);
  await eventually('the worker warns', () => WARNING.test(worker.stderr()));
  // The lease shows the latency of the heartbeat before the last one.
  await eventually('the list warns', async () => WARNING.test((await list()).stderr));

  const { lines } = await list();
  expect(lines[0]).toMatch(
    /^WORKER +HOST +PID +RUNNING +STEPS +LATENCY +TRIPS\/STEP +LEASE +HEARTBEAT +STARTED$/,
  );
  const [, row = ''] = lines;
  const cells = row.split(/ {2,}/);
  expect(cells.slice(0, 5)).toEqual(['far', hostname(), String(worker.pid), '0', '3']);
  const [latency, trips, lease, age, started] = cells.slice(5);
  expect(latency).toMatch(new RegExp(`^${FAR}$`));
  // Two for a step that continues. The first step of a run needs more.
  expect(Number(trips)).toBeGreaterThanOrEqual(2);
  expect(Number(trips)).toBeLessThan(12);
  expect(lease).toBe('4 s');
  expect(age).toMatch(/^[0-4](?:\.\d)? s ago$/);
  expect(started).toMatch(/^\d\d:\d\d:\d\d$/);

  network.calm();
  worker.child.kill('SIGINT');
  const { code, stderr } = await worker.ended;
  expect(code).toBe(0);
  expect(stderr).toContain(
    `The worker far executed 3 steps, with ${trips} round trips to the database per step.\n`,
  );
});
