// Commands that steer runs which a real worker carries. All tests share a database and a worker.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { looseLibrary } from '../../src/world/wire.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { connected } from '../mcp/connected.ts';
import { served } from '../serve/served.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

const FILES = {
  'ask/START.sh': `echo '<ask next="END">Which way?</ask>'\n`,
  'ask/END.sh': 'echo "<result>went $RAYMOND_RESULT</result>"\n',
  'files/START.sh': `echo shown >report.md
echo '<ask next="END" files="report.md">Which?</ask>'
`,
  'files/END.sh': 'echo "<result>$(cat "$RAYMOND_ANSWER_FILES")</result>"\n',
  'permit/START.md': 'Work.',
  'apart/START.sh': `echo '<fork worktree="x">W</fork><join>W</join>'\n`,
  'apart/W.sh': 'echo "<result>worked</result>"\n',
  'two/START.sh': 'echo one >>words; echo "<goto>NEXT</goto>"\n',
  'two/NEXT.sh': 'echo two >>words; echo "<result>$(wc -l <words)</result>"\n',
  'broken/START.sh': 'exit 1\n',
  'essay/START.sh': 'echo draft >text; echo "<goto>REVIEW</goto>"\n',
  'essay/REVIEW.sh': 'echo fine >>text; echo "<result>$(tail -n 1 text)</result>"\n',
  'strict/REVIEW.sh': 'echo short >>text; echo "<result>$(tail -n 1 text)</result>"\n',
};

const REQUEST = { tool_name: 'Bash', input: { command: 'echo x >>made' } };
const AGENT = {
  RAYMOND_CLAUDE: join(import.meta.dirname, '..', 'real-agent', 'fake-claude.js'),
  FAKE_CLAUDE: 'asks permission',
  FAKE_CLAUDE_REQUESTS: JSON.stringify([{ ...REQUEST, permission_suggestions: [] }]),
};

let fleet: Fleet;

useFleet(FILES, (opened) => {
  fleet = opened;
  git('init', '-q', '--bare', remote());
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', remote());
  git('add', '-A');
  git('-c', 'user.name=U', '-c', 'user.email=u@example.org', 'commit', '-qm', 'first');
  const log = join(fleet.project.folder, '..', 'log');
  fleet.worker('only', [], { ...AGENT, FAKE_CLAUDE_LOG: log });
});

const remote = () => join(fleet.project.folder, '..', 'remote.git');
const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: fleet.project.folder, stdio: 'pipe', encoding: 'utf8' });
const raymond = (...args: readonly string[]) =>
  command(fleet.project, args, { env: { RAYMOND_DATABASE: fleet.url } });

async function begun(workflow: string, id: string, ...options: readonly string[]) {
  const started = await raymond(workflow, '--detach', '--workflow-id', id, ...options);
  expect(started).toMatchObject({ code: 0, stdout: `${id}\n` });
}

test('an answer continues a run without a resume', async () => {
  await begun('ask', 'asking');
  await fleet.asks('asking');
  expect(await raymond('answer', 'asking', 'left')).toMatchObject({ code: 0 });
  expect(await fleet.ended('asking')).toMatchObject({ result: 'went left' });
  expect(await raymond('answer', 'asking', 'right')).toMatchObject({ code: 64 });
});

test('the files of questions and answers are in the database, also where they travel', async () => {
  for (const [id, ...options] of [['here'], ['far', '--remote', 'origin']] as const) {
    await begun('files', id, ...options);
    await fleet.asks(id);
    expect((await raymond('show', id, '--file', 'report.md')).stdout).toBe('shown\n');
    writeFileSync(join(fleet.project.folder, 'form.txt'), `form of ${id}`);
    const answer = ['answer', id, 'yes', '--file', 'form.txt'];
    expect(await raymond(...answer)).toMatchObject({ code: 0 });
    expect(await fleet.ended(id)).toMatchObject({ result: `form of ${id}` });
    const kept = () =>
      fleet.database.query('select sha256 from raymond.files where run = $1', [id]);
    expect(await kept()).toHaveLength(2);
    // Whoever can write to the database cannot change what a question showed.
    await fleet.database.query("update raymond.files set content = 'x' where run = $1", [id]);
    expect(await raymond('show', id, '--file', 'report.md')).toMatchObject({
      code: 64,
      stdout: '',
    });
    expect(await raymond('prune', id)).toMatchObject({ code: 0 });
    expect(await kept()).toEqual([]);
  }
});

test('a decision reaches the tool call that waits on the worker', async () => {
  await begun('permit', 'permitted', '--ask-permissions');
  await eventually('a call waits', async () => {
    const { tally } = await fleet.look('permitted');
    return tally.asksPermission > 0;
  });
  expect((await raymond('show', 'permitted')).stdout).toContain('asks permission for Bash');
  expect(await raymond('answer', 'permitted', 'allow')).toMatchObject({ code: 0 });
  expect(await fleet.ended('permitted')).toMatchObject({ result: 'done' });
  expect(fleet.project.lines('made')).toEqual(['x']);
});

test('serve lists the runs of the database, shows one and answers it', async () => {
  await begun('ask', 'in-page');
  await fleet.asks('in-page');
  const server = await served(fleet.project, { RAYMOND_DATABASE: fleet.url });
  expect(JSON.stringify((await server.get('/api/runs')).body)).toContain('"in-page"');
  expect(await server.get('/api/runs/in-page')).toMatchObject({
    status: 200,
    body: { questions: 1, agents: [{ status: { kind: 'asking' } }] },
  });
  expect(await server.post('/api/runs/in-page/answer', { text: 'up' })).toMatchObject({
    status: 200,
  });
  expect(await fleet.ended('in-page')).toMatchObject({ result: 'went up' });
  expect((await server.get('/api/runs/in-page/steps/main/1')).status).toBe(200);
});

test('an MCP client starts a run in the database, lists, shows and answers it', async () => {
  const { folder, environment } = fleet.project;
  const given = { folder, environment: { ...environment, RAYMOND_DATABASE: fleet.url } };
  const { call } = await connected(given);
  expect(await call('start', { workflow: 'ask', id: 'by-agent' })).toMatchObject({
    id: 'by-agent',
    isError: false,
  });
  await fleet.asks('by-agent');
  expect(JSON.stringify(await call('list'))).toContain('"by-agent"');
  expect(await call('show', { run: 'by-agent' })).toMatchObject({ questions: 1 });
  expect(await call('answer', { run: 'by-agent', text: 'down' })).toMatchObject({
    delivered: true,
  });
  expect(await fleet.ended('by-agent')).toMatchObject({ result: 'went down' });
  expect(await call('show', { run: 'by-agent' })).toMatchObject({ result: { text: 'went down' } });
});

test('a run whose files travel has no worktrees, and says what to do', async () => {
  await begun('apart', 'apart', '--remote', 'origin');
  expect((await fleet.ended('apart')).status).toMatchObject({ outcome: 'failed' });
  const shown = (await raymond('show', 'apart')).stdout;
  expect(shown).toContain('A run whose files travel through a remote has no worktrees.');
  expect(shown).toContain('--shared-directory');
});

test('a run whose files travel can be rewound without its files only', async () => {
  await begun('two', 'back', '--remote', 'origin', '--checkpoints', 'steps');
  expect(await fleet.ended('back')).toMatchObject({ result: '2' });
  const refused = await raymond('rewind', 'back', '--to', 'main:2', '--yes');
  expect(refused.code).toBe(64);
  expect(refused.stderr).toMatch(/they travel between the machines of the workers\n.*--no-files/);
  const rewound = await raymond('rewind', 'back', '--to', 'main:2', '--yes', '--no-files');
  expect(rewound).toMatchObject({ code: 0 });
  // The files stayed: the repeated step adds a third line.
  expect(await raymond('resume', 'back')).toMatchObject({ code: 0, stdout: '3\n' });
});

test('prune removes the snapshots of a run from the remote, or says how', async () => {
  const refs = () => execFileSync('git', ['-C', remote(), 'for-each-ref'], { encoding: 'utf8' });
  await begun('two', 'gone', '--remote', 'origin');
  await begun('two', 'gone-later', '--remote', 'origin');
  await fleet.ended('gone');
  await fleet.ended('gone-later');
  expect(refs()).toContain('refs/raymond/gone/');
  expect(await raymond('prune', 'gone')).toMatchObject({ code: 0, stdout: 'removed gone\n' });
  expect(refs()).not.toContain('refs/raymond/gone/');
  expect(refs()).toContain('refs/raymond/gone-later/');
  expect(git('for-each-ref')).not.toContain('refs/raymond/gone/');

  renameSync(remote(), `${remote()} away`);
  const pruned = await raymond('prune', 'gone-later');
  renameSync(`${remote()} away`, remote());
  expect(pruned).toMatchObject({ code: 0, stdout: 'removed gone-later\n' });
  const [, advice = ''] = /To remove them: (.*)/.exec(pruned.stderr) ?? [];
  execFileSync('sh', ['-c', advice], { cwd: fleet.project.folder, stdio: 'pipe' });
  expect(refs()).not.toContain('refs/raymond/gone-later/');
});

test('a worker removes what it keeps of a removed run', async () => {
  const folder = (kind: string, run: string) => join(fleet.stateOf('only'), kind, run);
  const kept = (run: string) => ['runs', 'clones'].filter((kind) => existsSync(folder(kind, run)));
  const other = folder('runs', 'of-another-database');
  mkdirSync(other, { recursive: true });
  writeFileSync(join(other, 'run-of-database'), JSON.stringify({ database: 'x', born: 'y' }));
  await begun('two', 'pruned', '--remote', 'origin');
  await fleet.ended('pruned');
  expect(kept('pruned')).toEqual(['runs', 'clones']);
  expect(await raymond('prune', 'pruned')).toMatchObject({ code: 0 });
  await eventually('nothing is left', () => kept('pruned').length === 0);
  expect(existsSync(other)).toBe(true);
});

test('accepted changes of a workflow are stored with the run', async () => {
  await begun('broken', 'mended');
  expect((await fleet.ended('mended')).status).toMatchObject({ outcome: 'failed' });
  fleet.project.write('broken/START.sh', 'echo "<result>mended</result>"\n');
  const stored = async () => {
    const query = "select archive from raymond.sources where run = 'mended'";
    const [found] = await fleet.database.query<{ archive: Buffer }>(query);
    return found?.archive.toString('hex');
  };
  const before = await stored();
  const resumed = await raymond('resume', 'mended', '--accept-changes');
  expect(resumed).toMatchObject({ code: 0, stdout: 'mended\n' });
  const library = looseLibrary(fleet.project.folder, {});
  const { ref } = await library.load('broken');
  const { archive } = await library.pack(ref);
  expect(await stored()).toBe(Buffer.from(archive).toString('hex'));
  expect(await stored()).not.toBe(before);
});

test('workers carry variants of a run, with other texts of its states', async () => {
  await begun('essay', 'essay', '--checkpoints', 'steps', '--shared-directory');
  expect(await fleet.ended('essay')).toMatchObject({ result: 'fine' });
  const before = await fleet.look('essay');
  const args = ['--at', 'main:2', '--with', 'strict/REVIEW.sh', '--times', '2', '--json'];
  const { code, stdout, stderr } = await raymond('try', 'essay', ...args);
  expect(code, stderr).toBe(0);
  const [moment] = JSON.parse(stdout).moments;
  const changed = { files: 1, added: 1, removed: 0 };
  const wanted = { status: 'completed', result: { text: 'short' }, files: changed };
  expect(moment.variants).toMatchObject([wanted, wanted]);
  expect(await fleet.look('essay')).toEqual(before);
});
