import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');

/** Workers that are ready. */
export async function hire(
  url: string,
  count: number,
  folder: string,
): Promise<readonly ChildProcess[]> {
  const members = Array.from({ length: count }, (_, index) => {
    const state = join(folder, `worker-${index}`);
    const args = [bin, 'worker', '--name', `w${index}`, '--state', state, '--scripts', '8'];
    const env = { ...process.env, RAYMOND_DATABASE: url };
    return spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore' });
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const isReady = async () => {
    const { rows } = await client
      .query<{ count: number }>(COUNT, [members.map(({ pid }) => pid)])
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

const COUNT = 'select count(*)::int as count from raymond.workers where pid = any($1::int[])';

export async function dismiss(member: ChildProcess): Promise<void> {
  if (member.exitCode !== null) return;
  member.kill('SIGTERM');
  await once(member, 'exit');
}
