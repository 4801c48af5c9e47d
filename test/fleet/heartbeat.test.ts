import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { Heartbeat } from '../../src/fleet/heartbeat.ts';
import { monotonicMs } from '../../src/fleet/monotonic.ts';
import { register } from '../../src/fleet/worker-table.ts';
import { openDatabase } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrations.ts';
import { listenTo } from '../../src/postgres/notices.ts';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { startProxy } from '../postgres/proxy.ts';

test('a connection that hangs does not cost the lease', async () => {
  const url = await newDatabase();
  const proxy = await startProxy(url);
  const database = openDatabase({ url });
  onTestFinished(() => database.close());
  const hanging = openDatabase({ url: proxy.url });
  onTestFinished(() => hanging.close());
  await migrate(database);
  const [worker, leaseMs] = [randomUUID(), 4_000];
  const facts = { name: 'a', host: 'h', pid: 1, place: 'a', limits: { prompts: 1, scripts: 1 } };
  const began = monotonicMs();
  await register(database, worker, facts, leaseMs);
  const seen: string[] = [];
  let renewals = 0;
  const guard = { renew: () => void renewals++ };
  const onLost = (why: string) => void seen.push(why);
  const notices = listenTo(hanging);
  onTestFinished(notices.on('work', undefined, () => {}));
  await notices.ready(() => {});
  const traffic = () => ({ steps: 0, roundTrips: 0 });
  const heartbeat = new Heartbeat(
    { database: hanging, notices, worker, leaseMs, guard, traffic, onLost },
    began,
  );
  onTestFinished(() => heartbeat.close());
  onTestFinished(() => proxy.close());
  const next = async (count: number) => {
    const before = renewals;
    await eventually('the lease is renewed', () => renewals >= before + count || seen.length > 0);
  };
  await next(1);
  proxy.swallow();
  await next(2);
  expect(seen).toEqual([]);
  expect(heartbeat.isOver).toBe(false);
  // Without any connection, the worker does not wait for an answer for longer than its lease.
  proxy.swallowAll();
  await eventually('the worker is lost', () => seen.length > 0);
  expect(seen).toEqual(['it could not renew its lease in time']);
});
