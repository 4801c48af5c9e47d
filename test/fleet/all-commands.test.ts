// Every command that takes --database, on runs that a real worker carries. All share a worker.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { program } from '../../src/cli/program.ts';
import { acpEditor } from '../acp/acp-editor.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { connected } from '../mcp/connected.ts';
import type { Started } from '../raymond.ts';
import { served } from '../serve/served.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

const FILES = {
  'ask/START.sh': `echo '<print>words</print><goto>ASK</goto>'\n`,
  'ask/ASK.sh': `echo '<ask next="END">Which way?</ask>'\n`,
  'ask/END.sh': 'echo "<result>went $RAYMOND_RESULT</result>"\n',
  'two/START.sh': `echo '<fork n="1">ASK</fork><fork n="2">ASK</fork><join>END</join>'\n`,
  'two/ASK.sh': `echo '<ask next="BACK">Which way?</ask>'\n`,
  'two/BACK.sh': 'echo "<result>$RAYMOND_RESULT</result>"\n',
  'two/END.sh': `echo "<result>$(echo "$RAYMOND_RESULT" | tr ',' '\\n' | grep '"result"')</result>"\n`,
  'long/START.sh': 'while [ ! -e go ]; do sleep 0.05; done; echo "<result>over</result>"\n',
  'files/START.sh': 'echo one >>words; echo "<goto>NEXT</goto>"\n',
  'files/NEXT.sh': 'echo two >>words; echo "<result>$(wc -l <words)</result>"\n',
};

let fleet: Fleet;
let worker: Started;

useFleet(FILES, (opened) => {
  fleet = opened;
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: fleet.project.folder, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('-c', 'user.name=U', '-c', 'user.email=u@example.org', 'commit', '-qm', 'first');
  worker = fleet.worker('only');
});

const withDatabase = () => ({ env: { RAYMOND_DATABASE: fleet.url } });
/** In the process of the test, with the URL as an option. */
const raymond = (...args: readonly string[]) =>
  command(fleet.project, [...args, '--database', fleet.url]);
const start = (...args: readonly string[]) => fleet.project.start(args, withDatabase());

async function begun(workflow: string, id: string, ...options: readonly string[]): Promise<void> {
  const args = ['--detach', '--workflow-id', id, '--shared-directory', ...options];
  const started = await raymond(workflow, ...args);
  expect(started).toMatchObject({ code: 0, stdout: `${id}\n` });
}

async function asking(id: string): Promise<void> {
  await begun('ask', id);
  await fleet.asks(id);
}

async function answered(id: string): Promise<void> {
  expect(await raymond('answer', id, 'left')).toMatchObject({ code: 0 });
  expect(await fleet.ended(id)).toMatchObject({ result: 'went left' });
}

const isRunning = (id: string) =>
  eventually(`${id} works`, async () => (await fleet.look(id)).iterations > 0);

/** One play for each command. Some use the runs of the plays before them. */
const SHOWN: Readonly<Record<string, () => Promise<void>>> = {
  async run() {
    const ended = await raymond('files', '--workflow-id', 'run', '--shared-directory');
    expect(ended).toMatchObject({ code: 0, stdout: '2\n' });
  },

  async answer() {
    await begun('two', 'answer');
    await eventually('both ask', async () => (await fleet.look('answer')).tally.asking === 2);
    const unclear = await raymond('answer', 'answer', 'left');
    expect(unclear).toMatchObject({ code: 64, stderr: expect.stringContaining('--agent') });
    for (const [agent, text] of [
      ['main_ask2', 'second'],
      ['main_ask1', 'first'],
    ] as const)
      expect(await raymond('answer', 'answer', text, '--agent', agent)).toMatchObject({ code: 0 });
    const { result } = await fleet.ended('answer');
    expect(result).toBe('"result":"first"\n"result":"second"');
  },

  async say() {
    await asking('say');
    const said = await raymond('say', 'say', 'use the old API');
    expect(said).toMatchObject({ code: 0 });
    expect(said.stderr).toContain('It waits for the next prompt of main of say.');
    expect((await raymond('show', 'say')).stdout).toContain('has not heard yet');
    expect((await raymond('logs', 'say')).stdout).toContain('use the old API');
    await answered('say');
  },

  async logs() {
    await asking('logs');
    const following = start('logs', 'logs', '-f');
    await eventually('it shows the question', () => following.stdout().includes('Which way?'));
    await answered('logs');
    const { code, stdout } = await following.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/words[\s\S]*went left/);
    expect((await raymond('logs', 'logs', '--agent', 'main')).stdout).toContain('went left');
  },

  async watch() {
    await asking('watch');
    const watching = start('watch', 'watch', '--plain');
    await eventually('it shows the question', () =>
      `${watching.stdout()}${watching.stderr()}`.includes('Which way?'),
    );
    await answered('watch');
    const { code, stdout, stderr } = await watching.ended;
    expect({ code, said: `${stdout}${stderr}` }).toEqual({
      code: 0,
      said: expect.stringMatching(/went left/),
    });
  },

  async list() {
    await asking('list');
    const waiting = (await raymond('list', '--status', 'waiting', '--json')).stdout;
    expect(JSON.parse(waiting)).toMatchObject({ id: 'list' });
    expect((await raymond('list', '-n', '1')).stdout.trim().split('\n')).toHaveLength(2);
    await answered('list');
    expect((await raymond('list', '--status', 'waiting')).stdout).not.toContain('list');
  },

  async show() {
    await asking('show');
    const shown = (await raymond('show', 'show')).stdout;
    expect(shown).toContain('Which way?');
    // The forecast comes from the completed runs of the plays before.
    expect(shown).toMatch(/forecast +about/);
    expect((await raymond('show', 'show', '--steps')).stdout).toMatch(/main:1[\s\S]*main:2/);
    const step = await raymond('show', 'show', 'main:1');
    expect(step.stdout).toContain('  | <print>words</print><goto>ASK</goto>');
    expect((await raymond('show', 'show', '--timeline')).stdout).toContain('main');
    expect((await raymond('show', 'show', '--timeline', '--svg')).stdout).toContain('<svg');
    expect(JSON.parse((await raymond('show', 'show', '--json')).stdout)).toMatchObject({
      forecast: { runs: 4 },
    });
    await answered('show');
  },

  async diagram() {
    const diagram = (...args: readonly string[]) => raymond('diagram', 'ask', ...args);
    expect((await diagram('--run', 'show')).stdout).toContain('END');
    expect((await diagram('--run', 'show', '--svg')).stdout).toContain('<svg');
    expect(await diagram('--heat', 'time', '--html')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('<html'),
    });
  },

  async test() {
    const recorded = await raymond('test', 'ask', '--record', 'show');
    expect(recorded).toMatchObject({ code: 0 });
    expect(await raymond('test', 'ask')).toMatchObject({ code: 0 });
    const again = await raymond('test', 'ask', '--against-runs', 'show', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ run: 'show', result: 'same', not_kept: [] });
    // A copy, so that other plays are not disturbed.
    for (const name of ['START.sh', 'ASK.sh'] as const)
      fleet.project.write(`copy/${name}`, FILES[`ask/${name}`]);
    fleet.project.write('copy/END.sh', 'echo "<result>other</result>"');
    const copy = await raymond('test', 'copy', '--against-runs', 'show', '--json');
    expect(JSON.parse(copy.stdout)).toMatchObject({ result: 'open', open: [{ cause: 'script' }] });
  },

  async lint() {
    const lint = () => raymond('lint', 'ask', '--against-runs');
    expect((await lint()).stdout).not.toContain('refused-answer');
    // END is ambiguous now.
    fleet.project.write('ask/END.md', 'Say it.');
    expect((await lint()).stdout).toContain('ask/ASK.sh:1:1: warning: This would refuse');
    rmSync(fleet.project.path('ask/END.md'));
  },

  // The time comes from the completed runs of the plays before.
  async bound() {
    const { code, stdout } = await raymond('bound', 'ask', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ prompts: 0, time_ms: expect.any(Number) });
  },

  async stop() {
    for (const id of ['stop', 'stopped-too']) {
      await begun('long', id);
      await isRunning(id);
      expect(await raymond('stop', id, '--now')).toMatchObject({ code: 0 });
      expect((await fleet.look(id)).status).toMatchObject({ outcome: 'interrupted' });
    }
    await asking('drained');
    expect(await raymond('stop', 'drained', '--json')).toMatchObject({ code: 0 });
    expect((await fleet.look('drained')).status).toMatchObject({ outcome: 'interrupted' });
  },

  async resume() {
    fleet.project.write('go', '');
    expect(await raymond('resume', 'stop')).toMatchObject({ code: 0, stdout: 'over\n' });
    expect(await raymond('resume', 'drained', '--detach')).toMatchObject({ code: 0 });
    await fleet.asks('drained');
    await answered('drained');
    expect(await raymond('resume', '--all')).toMatchObject({ code: 0 });
    expect(await fleet.look('stopped-too')).toMatchObject({ result: 'over' });
  },

  async rewind() {
    const words = () => fleet.project.lines('words');
    fleet.project.write('words', '');
    await begun('files', 'rewind', '--checkpoints', 'steps');
    expect(await fleet.ended('rewind')).toMatchObject({ result: '2' });
    const rewound = await raymond('rewind', 'rewind', '--to', 'main:2', '--yes');
    expect(rewound).toMatchObject({ code: 0 });
    expect(words()).toEqual(['one']);
    expect(await raymond('rewind', 'rewind', '--undo', '--yes')).toMatchObject({ code: 0 });
    expect(words()).toEqual(['one', 'two']);
    expect((await fleet.look('rewind')).status).toMatchObject({ outcome: 'completed' });
    await raymond('rewind', 'rewind', '--to', 'main:2', '--yes');
    expect(await raymond('resume', 'rewind')).toMatchObject({ code: 0, stdout: '2\n' });
    expect(words()).toEqual(['one', 'two']);
  },

  // The rewind before has abandoned main:2.
  async diff() {
    const diff = async (...part: readonly string[]) =>
      (await raymond('diff', 'rewind', ...part)).stdout;
    expect(await diff('--stat')).toMatch(/\+2 -0 +words/);
    expect(await diff('main:3')).toContain('\n one\n+two\n');
  },

  async try() {
    const tried = await raymond('try', 'rewind', '--at', 'main:3', '--json');
    const variant = { status: 'completed', result: { text: '2' } };
    const { moments } = JSON.parse(tried.stdout);
    expect(moments).toMatchObject([{ variants: [variant] }]);
    const [{ id }] = moments[0].variants;
    const pruned = await raymond('prune', id, '--discard-worktrees', '--yes');
    expect(pruned).toMatchObject({ code: 0 });
  },

  async serve() {
    const server = await served(fleet.project, withDatabase().env);
    const post = async (path: string, body: object) => {
      const { status, body: said } = await server.post(path, body);
      expect({ path, status, said }).toMatchObject({ status: expect.toSatisfy(isGood) });
    };
    await post('/api/runs', { workflow: 'ask', id: 'serve' });
    await fleet.asks('serve');
    expect(JSON.stringify((await server.get('/api/questions')).body)).toContain('"serve"');
    await post('/api/runs/serve/stop', { now: true });
    await fleet.ended('serve');
    await post('/api/runs/serve/resume', { budget: 3 });
    await fleet.asks('serve');
    await post('/api/runs/serve/answer', { text: 'left' });
    await fleet.ended('serve');
    for (const path of ['', '/graph', '/forecast', '/steps/main/1'])
      expect(await server.get(`/api/runs/serve${path}`)).toMatchObject({ status: 200 });
    for await (const { data } of server.stream('/api/runs/serve/events')) {
      if (JSON.stringify(data).includes('"run-ended"')) break;
    }
    await post('/api/runs/serve/rewind', { agent: 'main', step: 3, files: false });
    expect(await raymond('resume', 'serve')).toMatchObject({ code: 0, stdout: 'went left\n' });
  },

  async mcp() {
    const { folder, environment } = fleet.project;
    const given = { folder, environment: { ...environment, ...withDatabase().env } };
    const { call } = await connected(given);
    await call('start', { workflow: 'ask', id: 'mcp' });
    expect(await call('watch', { run: 'mcp' })).toMatchObject({
      questions: 1,
      agents: [{ id: 'main' }],
    });
    expect(await call('stop', { run: 'mcp', now: true })).toMatchObject({ isError: false });
    expect(await call('resume', { run: 'mcp' })).toMatchObject({ isError: false });
    await fleet.asks('mcp');
    await call('answer', { run: 'mcp', text: 'left' });
    expect(await fleet.ended('mcp')).toMatchObject({ result: 'went left' });
  },

  async acp() {
    const { folder, environment } = fleet.project;
    const given = { folder, environment: { ...environment, ...withDatabase().env } };
    const editor = await acpEditor(given, ['ask']);
    const { sessionId } = await editor.newSession();
    expect(await editor.prompt(sessionId, 'go')).toBe('end_turn');
    expect(editor.said()).toContain('Which way?');
    expect(await editor.prompt(sessionId, 'left')).toBe('end_turn');
    expect(await fleet.ended(sessionId)).toMatchObject({ result: 'went left' });
    expect(editor.said()).toContain('went left');
  },

  async check() {
    const { code, stdout } = await raymond('check', 'ask', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ bound: { prompts: 0 } });
  },

  async eval() {
    const refused = await raymond('eval', 'ask');
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain('An eval needs runs in files');
    expect(refused.stderr).toContain('Add --database none.');
  },

  async prune() {
    const ids = async () => [...(await fleet.store.list())].sort();
    const before = await ids();
    expect((await raymond('prune', '--dry-run')).stdout).toContain('show');
    expect(await raymond('prune', '--older-than', '1d', '--yes')).toMatchObject({ code: 0 });
    expect(await ids()).toEqual(before);
    await asking('kept');
    expect(await raymond('prune', '--yes')).toMatchObject({ code: 0 });
    expect(await ids()).toEqual(['kept']);
  },

  async inbox() {
    await asking('inbox');
    const items = (await raymond('inbox', '--json')).stdout.trim().split('\n');
    expect(items.map((item) => JSON.parse(item))).toContainEqual(
      expect.objectContaining({ run: 'inbox', project: null, question: 'Which way?' }),
    );
    await answered('inbox');
    expect((await raymond('inbox')).stdout).not.toContain('inbox:');
  },

  /** `test/triggers/up.test.ts` has workers that keep triggers. */
  async trust() {
    fleet.project.write('timed/workflow.yaml', 'triggers: [{ schedule: 0 0 29 2 * }]\n');
    fleet.project.write('timed/START.sh', `echo '<result>ok</result>'\n`);
    expect(await raymond('trust', 'timed', '--yes')).toMatchObject({ code: 0 });
  },

  async triggers() {
    const { stdout } = await raymond('triggers', '--json');
    expect(stdout).toContain('0 0 29 2 *');
  },

  async up() {
    const { project } = fleet;
    const up = project.start(['up'], withDatabase());
    await eventually('it keeps the trigger', () => up.stderr().includes('timed (schedule'));
    up.child.kill('SIGTERM');
    expect(await up.ended).toMatchObject({ code: 0 });
  },

  async worker() {
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0, stdout: '' });
  },
};

const isGood = (status: number) => status < 300;

test.each(Object.entries(SHOWN))('%s', (_, show) => show());

test('no command that takes --database is missing', () => {
  const commands = program(
    () => Promise.reject(new Error('Only the options are read.')),
    async () => {},
  );
  const taking = commands.commands.filter(({ options }) =>
    options.some(({ long }) => long === '--database'),
  );
  expect(taking.map((one) => one.name()).sort()).toEqual(Object.keys(SHOWN).sort());
});
