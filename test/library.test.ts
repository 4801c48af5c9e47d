// The verbs for programs in JavaScript, in this process.
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { commandLine } from '../src/cli/command-line.ts';
import {
  answer,
  type Consent,
  list,
  look,
  type Notice,
  prune,
  resume,
  resumeAll,
  run,
} from '../src/index.ts';
import { surroundings } from '../src/world/surroundings.ts';
import { newProject } from './new-project.ts';

const SCRIPTS = {
  'greet/START.sh': 'echo "<result>hello</result>"\n',
  'slow/START.sh': 'until [ -e go ]; do sleep 0.05; done; echo "<goto>END.sh</goto>"\n',
  'slow/END.sh': 'echo "<result>late</result>"\n',
};

/** A project of the user for whom this process works. */
function stage(files: Readonly<Record<string, string>> = {}) {
  const project = newProject({ ...SCRIPTS, ...files });
  for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME'])
    vi.stubEnv(name, project.environment[name]);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { project, place: { cwd: project.folder } };
}

test('a stop is heeded as soon as it is asked', async () => {
  const { project, place } = stage();
  const known = run('slow', place);
  await known.id;
  await known.stop('now');
  expect((await known.ended).status).toEqual({ kind: 'ended', outcome: 'interrupted' });
  const early = run('slow', place);
  await early.stop();
  project.write('go', '');
  expect(await early.ended).toMatchObject({
    status: { outcome: 'interrupted' },
    result: undefined,
  });
});

test('the events of a run can be iterated once', async () => {
  const { place } = stage();
  const greeting = run('greet', place);
  const kinds: string[] = [];
  for await (const { type } of greeting) kinds.push(type);
  expect(kinds.at(-1)).toBe('run-ended');
  const again = async () => {
    for await (const { type } of greeting) kinds.push(type);
  };
  await expect(again()).rejects.toThrow('can be iterated once');
});

test('a prune removes the named runs, and only without names all completed ones', async () => {
  const { place } = stage();
  for (const id of ['one', 'two', 'three']) await run('greet', { ...place, id }).ended;
  const ids = async () => (await list(place)).map(({ id }) => id).sort();
  expect(await prune({ ...place, ids: [] })).toEqual([]);
  await expect(prune({ ...place, ids: ['one', 'four'] })).rejects.toMatchObject({ code: 'no-run' });
  expect(await ids()).toEqual(['one', 'three', 'two']);
  await prune({ ...place, ids: ['one'] });
  expect(await ids()).toEqual(['three', 'two']);
  await prune(place);
  expect(await ids()).toEqual([]);
});

test('what needs a consent is refused, unless the program agrees to the facts', async () => {
  const { place } = stage({
    'work/START.sh':
      'git init -q "$RAYMOND_TASK_FOLDER/own"\ntouch "$RAYMOND_TASK_FOLDER/own/x"\necho "<result>made</result>"\n',
  });
  const { id } = await run('work', { ...place, id: 'one' }).ended;
  const told: Notice[] = [];
  const onNotice = (notice: Notice) => void told.push(notice);
  const discard = { ...place, ids: [id], discardWork: true };
  await expect(prune({ ...discard, onNotice })).rejects.toThrow('cannot ask');
  const heading = 'This work will be deleted, and cannot be restored:';
  expect(told[0]).toEqual({ kind: 'warning', text: heading });
  const asked: Consent[] = [];
  const agree = (isAgreed: boolean) => async (consent: Consent) => {
    asked.push(consent);
    return isAgreed;
  };
  expect(await prune({ ...discard, agree: agree(false) })).toEqual([]);
  expect(await prune({ ...discard, agree: agree(true) })).toMatchObject([{ id, work: [] }]);
  const facts = told.flatMap((notice) => (notice.kind === 'warning' ? [notice.text] : []));
  expect(facts.length).toBeGreaterThan(1);
  expect(asked).toEqual([
    { kind: 'discard-work', facts },
    { kind: 'discard-work', facts },
  ]);
});

test('the journal keeps the whole path of a directory', async () => {
  const { project } = stage();
  const cwd = relative(process.cwd(), project.folder);
  const { id, cwd: kept } = await run('greet', { cwd }).ended;
  expect(kept).toBe(project.folder);
  expect((await look(id, { cwd })).cwd).toBe(project.folder);
});

test('the log file of the command line is not opened', async () => {
  const { project, place } = stage();
  const log = project.path('run.log');
  project.write('.raymond/config.toml', `[raymond]\nlog_file = "${log}"\n`);
  const { id } = await run('greet', { ...place, rehearse: true }).ended;
  await resume(id, place).ended;
  expect(existsSync(log)).toBe(false);
});

test('warnings that belong to no run are notices', async () => {
  const { project, place } = stage();
  project.write('.raymond/config.toml', '[raymond]\ndatabase = "postgres://u@127.0.0.1:1/x"\n');
  const told: Notice[] = [];
  await list({ ...place, onNotice: (notice) => void told.push(notice) });
  expect(told[0]).toMatchObject({ kind: 'warning', text: expect.stringContaining('database') });
});

test('the variables of the caller stay as they are', async () => {
  const { place } = stage();
  vi.stubEnv('PGUSER', 'ada');
  vi.stubEnv('PGPASSWORD', 'secret');
  const before = { ...process.env };
  const database = 'postgres://127.0.0.1:1/x';
  expect((await surroundings({ ...place, database })).databaseUrl).toContain('user=ada');
  await expect(list({ ...place, database })).rejects.toMatchObject({ code: expect.any(String) });
  expect(process.env).toEqual(before);
});

test('a command has its process to itself, and takes the variables that open its database', async () => {
  stage();
  vi.stubEnv('PGUSER', 'ada');
  vi.stubEnv('RAYMOND_DATABASE', 'postgres://127.0.0.1:1/x');
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await commandLine(['list'])).not.toBe(0);
  expect(process.env.PGUSER).toBeUndefined();
});

test('all runs that can continue are resumed, and what refuses one of them is a notice', async () => {
  const { project, place } = stage({
    'two/START.sh': 'echo "<goto>END.sh</goto>"\n',
    'two/END.sh': 'echo "<result>done</result>"\n',
    'altered/START.sh': 'echo "<goto>END.sh</goto>"\n',
    'altered/END.sh': 'echo "<result>late</result>"\n',
  });
  for (const [id, workflow] of [
    ['one', 'two'],
    ['changed', 'altered'],
    ['three', 'two'],
    ['over', 'greet'],
  ] as const)
    await run(workflow, { ...place, id, maxIterations: 1 }).ended;
  project.write('altered/END.sh', 'echo "<result>other</result>"\n');
  const told: Notice[] = [];
  const ended: string[] = [];
  const choices = { ...place, maxIterations: 5, onNotice: (one: Notice) => void told.push(one) };
  for await (const { id, result } of resumeAll(choices)) ended.push(`${id}: ${result}`);
  expect(ended).toEqual(['one: done', 'three: done']);
  const message = expect.stringContaining('have changed since changed read them');
  expect(told).toContainEqual(expect.objectContaining({ kind: 'trouble', message }));
});

test('a run that is due and cannot continue is tried once', async () => {
  const { project, place } = stage({
    'ask/START.sh': 'echo "<ask next=\\"END.sh\\">Which?</ask>"\n',
    'ask/END.sh': 'echo "<result>done</result>"\n',
  });
  await run('ask', { ...place, id: 'asks', wait: false }).ended;
  await answer('asks', 'This.', place);
  project.write('ask/START.sh', 'echo "<result>changed</result>"\n');
  const told: Notice[] = [];
  const choices = { ...place, onNotice: (one: Notice) => void told.push(one) };
  for await (const { id } of resumeAll(choices)) throw new Error(`${id} continues.`);
  expect(told.filter(({ kind }) => kind === 'trouble')).toHaveLength(1);
});

test('to resume a run that does not exist makes nothing', async () => {
  const { project, place } = stage();
  await expect(resume('none', place).ended).rejects.toMatchObject({ code: 'no-run' });
  expect(existsSync(project.path('.raymond'))).toBe(false);
});
