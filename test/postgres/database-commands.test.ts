import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { forPrograms } from '../../src/app/for-programs.ts';
import * as library from '../../src/index.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { userKey } from '../../src/journal/user-key.ts';
import type { RunEvent } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import { appendEvents, lockRow, runOf } from '../../src/postgres/run-row.ts';
import { rowSeals } from '../../src/postgres/seals.ts';
import { runCodec } from '../../src/world/run-codec.ts';
import { type Surroundings, surroundings } from '../../src/world/surroundings.ts';
import { command } from '../command.ts';
import { collected } from '../journal/fixtures.ts';
import { patiently } from '../patiently.ts';
import { Project } from '../raymond.ts';
import { PASSWORD } from './server.ts';
import { open, sharedDatabase } from './stores.ts';

const emptied = sharedDatabase();
const WORKFLOW = { 'demo/START.sh': 'echo "<result>$1</result>"\n' };

async function stage(files: Readonly<Record<string, string>> = WORKFLOW) {
  const url = await emptied();
  const project = new Project(files);
  onTestFinished(() => project.dispose());
  const database = open(url);
  const env = { RAYMOND_DATABASE: url };
  const raymond = (...args: readonly string[]) => command(project, args, { env });
  const rows = rowSeals(keyOf(project));
  /** Does what a worker does: decides under the lock of the run. */
  const append = (id: string, ...events: readonly RunEvent[]) =>
    database.transaction(async (queries) => {
      const row = await lockRow(queries, id);
      const parts = { codec: runCodec, rows };
      const run = await runOf(queries, parts, id, row);
      await appendEvents(queries, parts, row, events, events.reduce(runCodec.apply, run));
    });
  const startWorker = async () => {
    await database.query(
      `insert into raymond.workers (id, name, host, pid, place, lease_until)
       values (gen_random_uuid(), 'blue', 'far', 77, '/x', now() + interval '1 hour')`,
    );
  };
  return { url, project, database, env, raymond, append, startWorker };
}

const keyOf = ({ environment }: Project) =>
  userKey(realDisk, join(environment.XDG_STATE_HOME ?? '', 'raymond', 'key'));

/** The surroundings of a program of the user who works in the project. */
async function surroundingsOf(project: Project, database: string): Promise<Surroundings> {
  for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME'])
    vi.stubEnv(name, project.environment[name]);
  onTestFinished(() => void vi.unstubAllEnvs());
  const around = await surroundings({ cwd: project.folder, database });
  onTestFinished(() => around.world.close());
  return around;
}

const ending = (outcome: 'completed' | 'failed', result = 'done'): readonly RunEvent[] => [
  { type: 'agent-ended', at: 5, agent: 'main', result },
  { type: 'run-ended', at: 6, outcome },
];

test('a run is stored for the workers, and every command sees it', async () => {
  const { raymond, append, startWorker, project } = await stage();
  const begun = await raymond('demo', '--detach', '--workflow-id', 'one');
  expect(begun).toMatchObject({ code: 0, stdout: 'one\n' });
  expect(begun.stderr).toContain('Workers of the database execute one.');
  expect((await raymond('list')).stdout).toMatch(/one +waiting .*a worker/);
  await startWorker();
  expect((await raymond('list')).stdout).toMatch(/one +running /);
  expect((await raymond('show', 'one')).stdout).toContain('one: running (the worker blue on far)');
  expect((await raymond('prune', 'one')).stderr).toContain('The worker blue on far works on one.');
  await append('one', ...ending('completed'));
  expect((await raymond('list', '--json')).stdout).toContain('"condition":"completed"');
  const events = (await raymond('logs', 'one', '--json')).stdout.trim().split('\n');
  expect(events.map((line) => JSON.parse(line).type)).toEqual(
    expect.arrayContaining(['run-started', 'agent-ended', 'run-ended']),
  );
  expect(await raymond('resume', 'one')).toMatchObject({ code: 0, stdout: 'done\n' });
  expect((await raymond('prune', 'one')).stdout).toBe('removed one\n');
  expect((await raymond('list')).stdout).not.toContain('one');
  // Nothing of the run is in files here.
  expect(project.lines('.raymond', 'state', 'one.jsonl')).toEqual([]);
});

test('the command follows its run and gives its result and exit code', async () => {
  const { raymond, append, startWorker } = await stage();
  await startWorker();
  const followed = raymond('demo', '--workflow-id', 'two');
  await patiently(() => append('two', ...ending('completed', 'the answer')));
  expect(await followed).toMatchObject({ code: 0, stdout: 'the answer\n' });
  const failed = raymond('demo', '--workflow-id', 'three', '--json');
  await patiently(() => append('three', { type: 'run-ended', at: 6, outcome: 'failed' }));
  const { code, stdout } = await failed;
  expect(code).toBe(1);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type),
  ).toEqual(['run-started', 'workflow-read', 'run-ended']);
});

test('a run without a worker waits, and the command says so', async () => {
  const { project, env, append } = await stage();
  const followed = project.start(['demo', '--workflow-id', 'four'], { env });
  await patiently(() => expect(followed.stderr()).toContain('raymond worker --database'));
  await append('four', ...ending('completed'));
  expect(await followed.ended).toMatchObject({ code: 0, stdout: 'done\n' });
});

test('a command that starts or follows a run without a worker says so', async () => {
  const { project, env, append, raymond, startWorker, database } = await stage();
  const begun = await raymond('demo', '--workflow-id', 'alone', '--detach');
  expect(begun.stderr).toContain('No worker is running for this database');
  const watchers = [
    ['logs', 'alone', '-f'],
    ['watch', 'alone'],
    ['logs', 'alone', '-f', '--json'],
  ];
  const followed = watchers.map((args) => project.start(args, { env }));
  for (const one of followed)
    await patiently(() => expect(one.stderr()).toContain('No worker is running'));
  await append('alone', ...ending('failed'));
  for (const one of followed) expect((await one.ended).code).toBe(0);
  await startWorker();
  const carried = await raymond('demo', '--workflow-id', 'carried', '--detach');
  expect(carried.stderr).not.toContain('No worker');
  await database.query('delete from raymond.workers');
});

test('Ctrl-C leaves a run without a worker, and says when it stops', async () => {
  const { project, env, database } = await stage();
  const followed = project.start(['demo', '--workflow-id', 'five'], { env });
  await patiently(() => expect(followed.stderr()).toContain('raymond worker --database'));
  followed.child.kill('SIGINT');
  expect((await followed.ended).code).toBe(130);
  expect(followed.stderr()).toContain('It stops when a worker takes it.');
  expect(await database.query('select message from raymond.mail')).toHaveLength(1);
});

test.each<[readonly string[], string, number?]>([
  [['--name', '../outside'], '--name is "../outside".'],
  [['--name', ''], '--name is "".'],
  [['--state', '/proc/none'], 'cannot create /proc/none: ', 1],
  [['--lease', '1'], 'Write a whole number of seconds from 2 to 999999.'],
  [['--lease', '9999999'], 'Write a whole number of seconds from 2 to 999999.'],
])('a worker refuses %j', async (args, text, code = 64) => {
  const { project, env } = await stage();
  const refused = await project.run(['worker', ...args], { env });
  expect(refused).toMatchObject({ code, stderr: expect.stringContaining(text) });
});

test('a server without TLS is an error with a remedy, and the mode of the URL causes no warning', async () => {
  const { project, env } = await stage();
  const url = `${env.RAYMOND_DATABASE}?sslmode=require`;
  const { code, stderr } = await project.run(['list'], { env: { RAYMOND_DATABASE: url } });
  expect(stderr).toContain('does not offer TLS, but the URL demands it.');
  expect(stderr).not.toMatch(/warning|bug/i);
  expect(code).toBe(64);
});

test.each([['serve', '--port', '0'], ['mcp']])(
  '%s does not start for a database that does not exist',
  async (...args) => {
    const { project, env } = await stage();
    const url = new URL(env.RAYMOND_DATABASE);
    url.pathname = '/absent';
    const refused = await project.run(args, { env: { RAYMOND_DATABASE: url.href } });
    expect(refused).toMatchObject({ code: 64, stdout: '' });
    expect(refused.stderr).toContain('There is no database absent');
  },
);

test('the first Ctrl-C asks the workers to stop the run', async () => {
  const { project, env, append, database, startWorker } = await stage();
  await startWorker();
  const followed = project.start(['demo', '--workflow-id', 'nine', '--json'], { env });
  await patiently(() => expect(followed.stdout()).toContain('run-started'));
  followed.child.kill('SIGINT');
  const mail = async () =>
    (await database.query<{ message: string }>('select message from raymond.mail')).map(
      ({ message }) => JSON.parse(JSON.parse(message).message).how,
    );
  await patiently(async () => expect(await mail()).toEqual(['drain']));
  await append('nine', { type: 'run-ended', at: 6, outcome: 'interrupted' });
  expect((await followed.ended).code).toBe(130);
});

test('a resume wakes the workers', async () => {
  const { raymond, append, database } = await stage();
  await raymond('demo', '--detach', '--workflow-id', 'five');
  await append('five', { type: 'run-ended', at: 6, outcome: 'interrupted' });
  await database.query('delete from raymond.wakeups');
  const followed = raymond('resume', 'five', '--budget', '3');
  await patiently(async () =>
    expect(await database.query('select run from raymond.wakeups')).toEqual([{ run: 'five' }]),
  );
  await patiently(() => append('five', ...ending('completed', 'resumed')));
  expect(await followed).toMatchObject({ code: 0, stdout: 'resumed\n' });
  const events = (await raymond('logs', 'five', '--json')).stdout;
  expect(events).toContain('"type":"run-resumed"');
  expect(events).toContain('"budgetUsd":3');
});

test('a stop is a message for the workers', async () => {
  const { raymond, append, startWorker, database } = await stage();
  await raymond('demo', '--detach', '--workflow-id', 'six');
  expect((await raymond('stop', 'six')).stderr).toContain('No worker executes six now.');
  await startWorker();
  const stopped = raymond('stop', 'six', '--now');
  await patiently(async () =>
    expect(await database.query('select message from raymond.mail')).toHaveLength(2),
  );
  await append('six', { type: 'run-ended', at: 6, outcome: 'interrupted' });
  expect(await stopped).toMatchObject({ code: 0, stderr: expect.stringContaining('has stopped') });
});

test('a stop by a program does not wait for a worker that does not exist', async () => {
  const { url, project, database } = await stage();
  await surroundingsOf(project, url);
  const place = { cwd: project.folder, database: url };
  const stopped = library.run('demo', { ...place, id: 'eight' });
  await stopped.id;
  await stopped.stop('now');
  expect((await stopped.ended).status).toEqual({ kind: 'active' });
  for await (const _ of library.run('demo', { ...place, id: 'nine' })) break;
  await library.stop('nine', place);
  const mail = await database.query('select run from raymond.mail order by id');
  expect(mail).toEqual([{ run: 'eight' }, { run: 'nine' }, { run: 'nine' }]);
});

test('the URL is in no output, no event and no environment', async () => {
  const { raymond, url, project, database, env } = await stage({
    ...WORKFLOW,
    '.raymond/config.toml': `[raymond]\ndatabase = "postgres://other:${PASSWORD}@nowhere/x"\n`,
  });
  const doctor = await raymond('doctor');
  const outputs = [
    await raymond('demo', '--detach', '--workflow-id', 'seven'),
    await raymond('list'),
    await raymond('list', `--databas=${url}`),
    await raymond('show', 'seven', '--json'),
    await raymond('logs', 'seven', '--json'),
    await raymond('config'),
    await raymond('config', '--json'),
    doctor,
    await command(project, ['list', '--database', url.replace(PASSWORD, 'wrong-password')]),
    await command(project, ['list', '--database', `postgres://u:${PASSWORD}@127.0.0.1:1/x`]),
    // The file of the project is not trusted.
    await command(project, ['list']),
  ];
  for (const { stdout, stderr } of outputs)
    expect(`${stdout}${stderr}`).not.toMatch(new RegExp(`${PASSWORD}|wrong-password`));
  expect(doctor.stdout).toMatch(
    /^ok {7}database +the database \S+ at \S+ has \d+ of \d+ connections free; a worker needs 2 to 9$/m,
  );
  expect(outputs.at(-1)?.stderr).toContain('Ignored: database');
  expect(outputs.at(-2)?.stderr).toContain('cannot reach the database x at 127.0.0.1:1');
  const stored = await database.query('select * from raymond.runs, raymond.events');
  expect(JSON.stringify(stored)).not.toContain(PASSWORD);
  expect(process.env.RAYMOND_DATABASE).toBeUndefined();
  expect(env.RAYMOND_DATABASE).toContain(PASSWORD);
});

test('start and resume warn once of each agent whose sessions cannot travel', async () => {
  const { raymond, project, append } = await stage({
    'demo/START.md': '---\nagent: mine\n---\nWork.',
    'demo/NEXT.md': '---\nagent: mine\n---\nWork.',
    'demo/LAST.md': '---\nagent: codex\n---\nWork.',
  });
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  writeFileSync(join(project.userConfig, 'config.toml'), '[agents.mine]\ncommand = "mine"\n');
  const begun = await raymond('demo', '--detach', '--workflow-id', 'stays', '--budget', '0');
  await append('stays', { type: 'run-ended', at: 6, outcome: 'failed' });
  for (const { code, stdout, stderr } of [begun, await raymond('resume', 'stays', '--detach')]) {
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'stays\n' });
    expect(stderr.match(/The sessions of the agent \w+ cannot travel/g)).toEqual([
      'The sessions of the agent mine cannot travel',
    ]);
    expect(stderr).toContain('Start workers on one machine only');
  }
});

test('a program starts, stops and resumes runs through RunControl', async () => {
  const { project, url, append, database } = await stage();
  const around = await surroundingsOf(project, url);
  const control = forPrograms(around);
  expect(await control.start('demo', { budget: 4 }, 'ten')).toMatchObject({ id: 'ten' });
  expect(await around.store.list()).toEqual(['ten']);
  await expect(control.start('demo', {}, 'ten')).rejects.toMatchObject({ code: 'run-exists' });
  await expect(control.start('demo', { database: url })).rejects.toMatchObject({ code: 'usage' });
  const stopping = await control.stop('ten', 'now');
  expect(stopping.isOver).toBe(false);
  await append('ten', { type: 'run-ended', at: 6, outcome: 'interrupted' });
  expect(await stopping.wait()).toBe('stopped');
  await control.resume('ten', {}, {});
  const found = await around.store.look('ten');
  expect(found).toMatchObject({ run: { status: { kind: 'active' }, settings: { budgetUsd: 4 } } });
  expect(await database.query('select run from raymond.wakeups')).toEqual([{ run: 'ten' }]);
});

test('a run that was moved from files can be read and rewound', async () => {
  const { raymond, project, url } = await stage({
    'demo/START.sh': 'echo "<goto>NEXT.sh</goto>"\n',
    'demo/NEXT.sh': 'echo "<print>words</print><result>ok</result>"\n',
  });
  const files = await surroundingsOf(project, 'none');
  expect(await command(project, ['demo', '--workflow-id', 'moved'])).toMatchObject({ code: 0 });
  const around = await surroundingsOf(project, url);
  const events = await collected(files.store.events('moved'));
  const run = events.reduce<Run>(runCodec.apply, newRun);
  const lease = await around.store.lease('moved');
  await lease.create(
    events.map(({ seq: _, ...event }) => event),
    run,
  );
  await lease.release();
  const local = (...args: readonly string[]) => command(project, args);
  for (const words of [
    ['show', 'moved', '--steps'],
    ['logs', 'moved'],
    ['logs', 'moved', '--json'],
  ])
    expect((await raymond(...words)).stdout).toBe((await local(...words)).stdout);
  expect((await raymond('watch', 'moved')).stdout).toContain('words');
  expect((await raymond('diagram', 'demo', '--run', 'moved')).stdout).toContain('NEXT');
  const rewound = await raymond('rewind', 'moved', '--to', 'main:2', '--yes', '--json');
  expect(rewound).toMatchObject({ code: 0 });
  expect((await raymond('logs', 'moved', '--json')).stdout).toContain('run-rewound');
  expect((await local('logs', 'moved', '--json')).stdout).not.toContain('run-rewound');
  expect((await raymond('__complete', 'show', 'mo')).stdout).toContain('moved\t');
});

test('a trusted config file names the database, and the command line can choose files again', async () => {
  const { url, project, raymond } = await stage();
  await raymond('demo', '--detach', '--workflow-id', 'eight');
  project.write('.raymond/config.toml', `[raymond]\ndatabase = "${url}"\n`);
  expect((await command(project, ['list'])).stdout).not.toContain('eight');
  await command(project, ['trust', '--yes']);
  expect((await command(project, ['list'])).stdout).toContain('eight');
  expect((await command(project, ['list', '--database', 'none'])).stdout).not.toContain('eight');
});
