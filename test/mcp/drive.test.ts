// An MCP client drives runs of the built program.
import { existsSync, readFileSync, renameSync, utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { connected } from './connected.ts';

const ASK = {
  'flow/START.sh': `printf '<ask next="END">Which \\033[31mway\\u202e?</ask>\\n'\n`,
  'flow/END.sh': `echo "<result>went $RAYMOND_INPUT</result>"\n`,
};

/** Watches as an agent does: with the last position, until the run has such a state. */
async function watchUntil(
  { call }: Pick<Awaited<ReturnType<typeof connected>>, 'call'>,
  run: string,
  isReached: (state: { readonly status: string; readonly questions: number }) => boolean,
) {
  let state = await call('watch', { run, seconds: 5 });
  await eventually('the run gets there', async () => {
    if (isReached(state)) return true;
    state = await call('watch', { run, after: state.position, seconds: 5 });
    return isReached(state);
  });
  return state;
}

test('a client starts a run, watches it, answers its question and gets its result', async () => {
  const project = newProject(ASK);
  const server = await connected(project);
  const { call, raw, client } = server;
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual([
    ...[
      'answer',
      'bound',
      'check',
      'decide',
      'diff',
      'file',
      'list',
      'propose',
      'resume',
      'say',
      'show',
      'start',
      'stop',
      'watch',
    ],
  ]);

  const started = await call('start', { workflow: 'flow', id: 'one', budget: 2 });
  expect(started).toMatchObject({ id: 'one', own: true, isError: false });
  const asking = await watchUntil(server, 'one', ({ questions }) => questions > 0);
  const [{ status }] = asking.agents;
  expect(asking.agents).toMatchObject([{ id: 'main', status: { answered: false } }]);
  // The text of the agent is whole, and no character of it can act on a terminal.
  expect(status.question).toBe('Which \u001b[31mway\u202e?');
  const { text } = await raw('show', { run: 'one' });
  expect(text).toContain('Which \\u001b[31mway\\u202e?');

  // No prompt follows, so nobody hears it, and the run says so.
  expect(await call('say', { run: 'one', text: 'be quick' })).toMatchObject({
    agent: 'main',
    reach: expect.stringMatching(/^(prompt|saved)$/),
    means: expect.stringContaining('main of one'),
  });
  expect(await call('answer', { run: 'one', text: 'left' })).toMatchObject({
    agent: 'main',
    delivered: true,
  });
  const done = await watchUntil(server, 'one', ({ status }) => status === 'completed');
  expect(done).toMatchObject({ result: { text: 'went left' }, counts: { failed: 0 } });
  const said = project.journal('one').filter(({ type }) => type === 'words-said');
  expect(said).toMatchObject([{ agent: 'main', text: 'be quick' }]);
  expect(await call('list')).toMatchObject({ runs: [{ id: 'one', status: 'completed' }] });
  expect(project.journal('one')[0]).toMatchObject({ settings: { budgetUsd: 2 } });
  // Nothing is left to wait for.
  expect(await call('watch', { run: 'one', seconds: 50 })).toMatchObject({ news: true });
});

test('a client reads the files of a question, and answers with files of the project only', async () => {
  const project = newProject({
    'flow/START.sh': `echo hello >report.md
echo '<ask next="END" files="report.md">Which?</ask>'\n`,
    'flow/END.sh': 'echo "<result>$(cat "$RAYMOND_ANSWER_FILES")</result>"\n',
    'plan.md': 'the plan',
    '.env': 'TOKEN=1',
    '../outside.txt': 'x',
  });
  const server = await connected(project);
  const { call } = server;
  await call('start', { workflow: 'flow', id: 'one' });
  const asking = await watchUntil(server, 'one', ({ questions }) => questions > 0);
  expect(asking.agents[0].status.files).toMatchObject([{ name: 'report.md' }]);
  expect(await call('file', { run: 'one', name: 'report.md' })).toMatchObject({
    text: { text: 'hello\n' },
  });
  for (const path of ['.env', '../outside.txt', '/etc/passwd', 'none'])
    expect(await call('answer', { run: 'one', text: '', files: [path] })).toMatchObject({
      isError: true,
      error: { code: 'wrong-files' },
    });
  expect(await call('answer', { run: 'one', text: '', files: ['plan.md'] })).toMatchObject({
    isError: false,
  });
  const done = await watchUntil(server, 'one', ({ status }) => status === 'completed');
  expect(done).toMatchObject({ result: { text: 'the plan' } });
});

test('mistakes and wishes for more rights are refused with a fact and a remedy', async () => {
  const project = newProject({ ...ASK, '../outside/START.sh': `echo '<result>x</result>'\n` });
  const { call, raw } = await connected(project, '--budget', '3');
  const error = (code: string, remedy: string) => ({
    isError: true,
    error: { code, remedy: expect.stringContaining(remedy) },
  });
  expect(await call('show', { run: 'none' })).toMatchObject(error('no-run', 'raymond list'));
  expect(await call('answer', { run: 'none', text: 'x' })).toMatchObject(
    error('no-run', 'raymond list'),
  );
  expect(await call('start', { workflow: '../outside' })).toMatchObject(
    error('outside-project', 'inside the project'),
  );
  expect(await call('start', { workflow: 'flow', budget: 3.5 })).toMatchObject(
    error('budget-too-high', 'raymond mcp --budget'),
  );
  for (const given of [
    { dangerously_skip_permissions: true },
    { permission_mode: 'bypassPermissions' },
    { budget: 0 },
    { claude_path: '/tmp/x' },
  ])
    expect((await raw('start', { workflow: 'flow', ...given })).isError).toBe(true);
  expect(await call('decide', { run: 'none', decision: 'deny' })).toMatchObject(
    error('no-run', 'raymond list'),
  );
  for (const given of [{ accept_changes: true }, { trust_run: true }])
    expect((await raw('resume', { run: 'none', ...given })).isError).toBe(true);
  expect(await call('list')).toMatchObject({ runs: [] });
  // Without a budget, a run has the highest one.
  await call('start', { workflow: 'flow', id: 'two' });
  expect(project.journal('two')[0]).toMatchObject({ settings: { budgetUsd: 3 } });
  await call('stop', { run: 'two', now: true });
});

test('a closed client ends the server and no run; another one stops and resumes the run', async () => {
  const wait = `until [ -e morning ]; do sleep 0.05; done; echo '<result>awake</result>'\n`;
  const project = newProject({ 'flow/START.sh': wait });
  const first = await connected(project);
  const pending = first.call('start', { workflow: 'flow', id: 'long' });
  expect(await pending).toMatchObject({ pid: expect.any(Number) });
  const watching = first.call('watch', { run: 'long', seconds: 50 }).catch(() => 'closed');
  await first.client.close();
  await watching;
  await eventually('the server has ended', () => !isRunning(first.pid));

  const second = await connected(project);
  expect(await second.call('show', { run: 'long' })).toMatchObject({ pid: expect.any(Number) });
  const news = await second.call('watch', { run: 'long', seconds: 0.2 });
  expect(news).toMatchObject({ news: false, pid: expect.any(Number) });
  await second.call('stop', { run: 'long', now: true });
  expect(await second.call('show', { run: 'long' })).toMatchObject({
    status: 'interrupted',
    pid: null,
  });
  project.write('morning', '');
  await second.call('resume', { run: 'long' });
  const done = await watchUntil(second, 'long', ({ status }) => status === 'completed');
  expect(done).toMatchObject({ result: { text: 'awake' } });
});

test('a workflow that was written or changed after the start of the server needs a person', async () => {
  const project = newProject({
    ...ASK,
    'calls/START.sh': `echo '<call-workflow return="END">../flow</call-workflow>'\n`,
    'calls/END.sh': `echo '<result>x</result>'\n`,
    'old/START.sh': `echo '<result>old</result>'\n`,
  });
  const { call } = await connected(project);
  const refused = {
    isError: true,
    error: { code: 'changed-workflow', remedy: expect.stringContaining('Ask a person') },
  };
  const payload = `touch ran; echo '<result>x</result>'\n`;
  project.write('evil/START.sh', payload);
  project.write('evil.yaml', `states:\n  START:\n    sh: touch ran; echo '<result>x</result>'\n`);
  for (const workflow of ['evil', 'evil.yaml', 'evil/START.sh'])
    expect(await call('start', { workflow })).toMatchObject(refused);
  // A copy is new, a renamed file has another change time, and one that is entered also counts.
  renameSync(project.path('old/START.sh'), project.path('old/1_START.sh'));
  expect(await call('start', { workflow: 'old' })).toMatchObject(refused);
  project.write('flow/END.sh', payload);
  utimesSync(project.path('flow/END.sh'), 1, 1);
  for (const workflow of ['flow', 'calls'])
    expect(await call('start', { workflow })).toMatchObject(refused);
  expect(existsSync(project.path('ran'))).toBe(false);
  // A rehearsal executes nothing.
  expect(await call('start', { workflow: 'evil', rehearse: true })).toMatchObject({
    isError: false,
  });
  expect(existsSync(project.path('ran'))).toBe(false);
  // A server that a person starts afterwards takes it.
  const later = await connected(project);
  expect(await later.call('start', { workflow: 'evil', id: 'e' })).toMatchObject({
    isError: false,
  });
  await watchUntil(later, 'e', ({ status }) => status === 'completed');
});

test('changed files need a person', async () => {
  const project = newProject(ASK);
  const server = await connected(project);
  await server.call('start', { workflow: 'flow', id: 'asks' });
  await watchUntil(server, 'asks', ({ questions }) => questions > 0);
  await server.call('stop', { run: 'asks', now: true });
  project.write('flow/END.sh', `echo '<result>changed</result>'\n`);
  const refused = await server.call('resume', { run: 'asks' });
  expect(refused).toMatchObject({ isError: true, error: { code: 'changed-workflow' } });
  expect(refused.error.remedy).toContain('--accept-changes');
});

/** A process whose end has not been read yet is also over. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
