// Another user of the database has changed rows of a run that the user has sealed.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packFiles } from '../../src/files/packed-files.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { Fleet } from './fleet.ts';

const FILES = {
  'flow/START.sh': 'echo "<result>mine</result>"\n',
  'other/START.sh': 'touch "$MARK"; echo "<result>not asked for</result>"\n',
};

test('a worker with a key executes nothing that only the database says', async () => {
  const fleet = await Fleet.open(await newDatabase(), FILES);
  onTestFinished(() => fleet.dispose());
  const { folder } = fleet.project;
  const bare = join(folder, '..', 'remote.git');
  const stolen = join(folder, '..', 'stolen.git');
  const mark = join(folder, '..', 'mark');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init', '-q', '--bare', bare);
  git('init', '-q', '--bare', stolen);
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', bare);
  git('add', '-A');
  git('-c', 'user.name=U', '-c', 'user.email=u@example.org', 'commit', '-qm', 'first');
  const forged: string[] = [];
  const forge = async (sql: string, remote?: string) => {
    const run = await fleet.begin('flow', undefined, remote);
    const changed = await fleet.database.query(`${sql} returning 1`, [run]);
    expect(changed.length).toBeGreaterThan(0);
    forged.push(run);
    return run;
  };

  const other = fleet.project.path('other');
  await forge(
    `update raymond.events set event = replace(event, '${folder}/flow', '${other}') where run = $1`,
  );
  await forge(`update raymond.runs set remote = '${stolen}' where id = $1`, 'origin');
  await forge(`update raymond.runs set remote = 'ext::touch ${mark}' where id = $1`, 'origin');
  // Without a remote, the worker would work in the directory itself.
  await forge('update raymond.runs set remote = null where id = $1', 'origin');
  await forge(
    `update raymond.runs set kept = replace(kept, '"trees":{}', '"trees":{"/":"x"}') where id = $1`,
  );
  const evil = await packFiles({
    note: { kind: 'folder', name: 'flow' },
    files: [{ name: 'START.sh', bytes: Buffer.from(FILES['other/START.sh']), mode: 0o755 }],
  });
  await forge(
    `update raymond.sources set archive = decode('${Buffer.from(evil).toString('hex')}', 'hex') where run = $1`,
  );
  const appended = await fleet.begin('flow');
  await fleet.database.query(
    `with added as (insert into raymond.events (run, seq, event)
       select run, seq + 1, '{"type":"agent-moved","at":1,"agent":"main","tag":"goto","state":"START.sh","workflow":"${other}","session":{"kind":"none"},"cwd":"/","stack":{"kind":"keep"}}'
         from raymond.events where run = $1 order by seq desc limit 1)
     update raymond.runs set seq = seq + 1 where id = $1`,
    [appended],
  );
  forged.push(appended);
  git('rm', '-rq', 'flow');

  const honest = await fleet.begin('other');
  const worker = fleet.worker('only', [], { MARK: `${mark}-of-honest` });
  await fleet.ended(honest);
  for (const run of forged)
    await eventually(`${run} is refused`, () => worker.stderr().includes(`${run}`));
  expect(worker.stderr()).toContain(
    `No key on this machine has sealed the stored files of ${folder}/flow`,
  );
  expect(worker.stderr()).toContain(`No key on this machine has sealed event 1 of ${forged[0]}`);
  for (const run of forged) {
    const steps = (await fleet.events(run)).filter(({ type }) => type === 'step-ended');
    expect({ run, steps }).toEqual({ run, steps: [] });
  }
  expect(existsSync(mark)).toBe(false);
  expect(execFileSync('git', ['-C', stolen, 'for-each-ref'], { encoding: 'utf8' })).toBe('');

  // Commands that look at it show that, and prune does not follow the address.
  const env = { RAYMOND_DATABASE: fleet.url };
  const [, , bad = ''] = forged;
  expect((await command(fleet.project, ['show', bad], { env })).stdout).toContain('NOT YOURS');
  await fleet.database.query(
    `update raymond.runs set status = 'ended' where id = $1 returning id`,
    [bad],
  );
  const pruned = await command(fleet.project, ['prune', bad], { env });
  expect(pruned.stderr).not.toContain('ext::');
  expect(existsSync(mark)).toBe(false);
});
