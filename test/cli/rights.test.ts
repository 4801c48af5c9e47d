// What a state may touch: who says it, who enforces it, and what happens without a sandbox.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { treeStatus } from '../../src/execute/git/look-at-tree.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { processesLeft } from '../survivors.ts';

const TRIES = `echo new > out/made
echo new > beside
echo "<result>$(ls -d beside out/made 2>/dev/null | tr '\\n' ' ')</result>"
`;

const flow = (rights: string, script = TRIES) => ({
  'flow/workflow.yaml': `states: { START.sh: { rights: ${rights} } }\n`,
  'flow/START.sh': script,
  'out/.keep': '',
});

describe('a script', () => {
  test('writes only where its state may, and the author is told what was refused', async () => {
    const project = newProject(flow('{ write: [out] }'));
    const { code, stdout, stderr } = await command(project, ['flow']);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'out/made \n' });
    expect(stderr).toContain('the sandbox refused: write beside');
    expect(stderr).toContain('To allow it, add it to rights.write of START.sh.');
  });

  test('leaves what was refused, and its rights, in the journal and in show', async () => {
    const project = newProject(flow('{ write: [out] }'));
    await command(project, ['flow', '--workflow-id', 'r', '--rights', '{ write: [out, x] }']);
    const refused = [{ right: 'write', what: 'beside', by: ['user', 'state'] }];
    const rights = { write: [['out', 'x'], ['out']], hide: [], network: [] };
    const journal = project.journal('r');
    expect(journal.find(({ type }) => type === 'step-started')).toMatchObject({ rights });
    expect(journal.find(({ type }) => type === 'step-ended')).toMatchObject({ refused });
    const { stdout: json } = await command(project, ['show', 'r', 'main:1', '--json']);
    expect(JSON.parse(json)).toMatchObject({ rights, outcome: { refused } });
    const { stdout } = await command(project, ['show', 'r', 'main:1']);
    expect(stdout).toContain('rights: write out within out, x · network none\n');
    expect(stdout).toContain(
      'refused: write beside. To allow it, add it to rights.write of your own rights and add it to rights.write of START.sh.\n',
    );
  });

  test('whose sandbox refused something and that fails tells both', async () => {
    const project = newProject(flow('{ write: [out] }', 'echo x > beside; exit 3'));
    const { code, stderr } = await command(project, ['flow', '--workflow-id', 'r']);
    expect(code).toBe(1);
    expect(stderr).toContain('the sandbox refused: write beside.');
    expect(project.journal('r').find(({ type }) => type === 'step-failed')).toMatchObject({
      refused: [{ right: 'write', what: 'beside' }],
    });
  });

  test('that makes command files is reported, once, and the next ones cannot change them', async () => {
    const made = `echo x >.envrc; mkdir .husky; mv ready .mise.toml; ln -s x .vimrc; echo . >.git/commondir
touch out/.envrc; echo x >>.npmrc; sleep 0.1; echo '<goto>NEXT</goto>'`;
    const project = newProject({
      'flow/workflow.yaml': 'rights: {}\n',
      'flow/START.sh': made,
      'flow/NEXT.sh': `echo more | tee -a .envrc .git/commondir; echo '<result>done</result>'`,
      ...{ '.git/HEAD': 'ref: refs/heads/main\n', '.git/config': '', '.npmrc': '', ready: 'x' },
      'out/.keep': '',
    });
    const { code, stdout, stderr } = await command(project, ['flow', '--workflow-id', 'r']);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'done\n' });
    const text =
      'START.sh made .husky, .vimrc, .envrc, .mise.toml, .git/commondir. Programs take commands from such files by themselves. Read what is in them before you work there.';
    const told = project
      .journal('r')
      .flatMap((event) => (event.type === 'step-ended' ? [event.warnings] : []));
    expect(told).toEqual([[text], undefined]);
    expect(stderr).toContain(text);
    expect(project.read('.envrc')).toBe('x\n');
  });

  test.each([
    '[.raymond/own]',
    '[.git/hooks]',
    '[.git/hooks/pre-commit]',
    '[.git]',
    '[.git/config]',
    '[flow/START.sh]',
    '[secret/own]',
  ])('cannot be given %s, whatever its state says', async (paths) => {
    const script = `for file in .raymond/own/x .git/hooks/pre-commit .git/config secret/own/x; do
  mkdir -p "$(dirname $file)"; echo changed >> $file
done; echo '# changed' >> flow/START.sh; echo '<result>tried</result>'`;
    const project = newProject({
      ...flow(`{ write: ${paths} }`, script),
      ...{ '.git/config': '[core]\n', '.git/HEAD': 'ref: refs/heads/main\n' },
      ...{ '.raymond/own/.keep': '', 'secret/own/.keep': '', '.git/hooks/.keep': '' },
    });
    const args = ['flow', '--rights', '{ hide: [secret] }'];
    expect(await command(project, args)).toMatchObject({ code: 0, stdout: 'tried\n' });
    expect(project.read('flow/START.sh')).toBe(script);
    expect(project.read('.git/config')).toBe('[core]\n');
    for (const file of ['.raymond/own/x', '.git/hooks/pre-commit', 'secret/own/x'])
      expect(existsSync(join(project.folder, file)), file).toBe(false);
  });

  test('writes below folders with spaces, umlauts and links, and not where a link leads out', async () => {
    const project = newProject({
      ...flow(
        '{ write: ["a b/ü", link, leads-out] }',
        'echo x > "a b/ü/x"; echo x > link/x; echo x > leads-out/x; echo "<result>tried</result>"',
      ),
      ...{ 'a b/ü/.keep': '', 'real/.keep': '' },
    });
    symlinkSync('real', join(project.folder, 'link'));
    const elsewhere = mkdtempSync(join(tmpdir(), 'raymond-elsewhere-'));
    onTestFinished(() => rmSync(elsewhere, { recursive: true }));
    symlinkSync(elsewhere, join(project.folder, 'leads-out'));
    expect(await command(project, ['flow'])).toMatchObject({ code: 0, stdout: 'tried\n' });
    expect([project.read('a b/ü/x'), project.read('real/x')]).toEqual(['x\n', 'x\n']);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test('that may write its directory changes neither its workflow nor what git executes', async () => {
    const script = `echo x > made; mkdir -p .git/hooks
echo x > .git/hooks/pre-commit; echo x >> flow/START.sh; echo x > .raymond/made
echo "<result>$(ls made .git/hooks/pre-commit .raymond/made 2>/dev/null)</result>"`;
    const project = newProject(flow('{ write: [.] }', script));
    expect(await command(project, ['flow'])).toMatchObject({ stdout: 'made\n' });
    expect(project.read('flow/START.sh')).toBe(script);
  });

  test('of a state without rights is not confined', async () => {
    const project = newProject({ ...flow('{ write: [out] }'), 'flow/workflow.yaml': '' });
    expect(await command(project, ['flow'])).toMatchObject({ stdout: 'beside out/made \n' });
  });

  test('whose state may write nothing can still use its task folder and /tmp', async () => {
    const script = `echo x > /tmp/own && echo x > "$RAYMOND_TASK_FOLDER/own" && echo x > own
echo "<result>$(ls /tmp "$RAYMOND_TASK_FOLDER" | grep -c own)</result>"`;
    const project = newProject(flow('{ write: [] }', script));
    expect(await command(project, ['flow'])).toMatchObject({ stdout: '2\n' });
  });
});

describe('each level only narrows', () => {
  test.each<[string, string, string]>([
    ['the user, what the workflow allows', '{ write: [.] }', '{ write: [out] }'],
    ['the workflow, what the user allows', '{ write: [out] }', '{ write: [.] }'],
  ])('%s', async (_, ofWorkflow, ofUser) => {
    const project = newProject(flow(ofWorkflow));
    configure(project, `[raymond]\nrights = ["${ofUser}"]\n`);
    expect(await command(project, ['flow'])).toMatchObject({ stdout: 'out/made \n' });
  });

  test('a workflow, what another workflow that it calls allows', async () => {
    const project = newProject({
      'flow/workflow.yaml': 'rights: { write: [out] }\n',
      'flow/START.sh': `echo '<call-workflow return="END">../other</call-workflow>'`,
      'flow/END.sh': 'echo "<result>$RAYMOND_RESULT</result>"',
      'other/START.sh': TRIES,
      'out/.keep': '',
    });
    const { stdout, stderr } = await command(project, ['flow']);
    expect(stdout, stderr).toBe('out/made \n');
    expect(stderr).toContain('To allow it, add it to rights.write of the workflow.');
  });

  test.each(['rights = false', 'no_rights = true'])(
    'a config file cannot lift them with %s',
    async (line) => {
      const project = newProject({ ...flow('{}'), '.raymond/config.toml': `[raymond]\n${line}\n` });
      const { code, stderr } = await command(project, ['flow']);
      expect({ code, stderr }).toMatchObject({
        code: 64,
        stderr: expect.stringContaining('rights'),
      });
    },
  );

  test('--rights confines a workflow that says nothing about rights', async () => {
    const project = newProject({ ...flow('{}'), 'flow/workflow.yaml': '' });
    const args = ['flow', '--rights', '{ write: [out] }'];
    expect(await command(project, args)).toMatchObject({ stdout: 'out/made \n' });
  });

  test('a level that means nothing is refused', async () => {
    const project = newProject(flow('{}'));
    const { code, stderr } = await command(project, ['flow', '--rights', '{ wirte: [out] }']);
    expect({ code, stderr }).toMatchObject({ code: 64, stderr: expect.stringContaining('wirte') });
  });
});

describe('without a sandbox', () => {
  const env = { PATH: '/nowhere' };

  test('a workflow with rights does not start', async () => {
    const project = newProject(flow('{ write: [out] }'));
    const { code, stderr } = await command(project, ['flow', '--workflow-id', 'r'], { env });
    expect(code).toBe(64);
    expect(stderr).toContain('this machine cannot enforce it. The sandbox needs bwrap');
    expect(stderr).toContain('apt-get install bubblewrap');
    expect(project.journal('r')).toEqual([]);
  });

  test('doctor says so', async () => {
    const { stdout } = await command(newProject({}), ['doctor'], { env });
    expect(stdout).toMatch(/^warning +sandbox +The sandbox needs bwrap/m);
  });

  test('a workflow without rights starts', async () => {
    const project = newProject({ ...flow('{}'), 'flow/workflow.yaml': '' });
    const { stderr } = await command(project, ['flow', '--workflow-id', 'r'], { env });
    expect(stderr).not.toContain('sandbox');
    expect(project.journal('r')).not.toEqual([]);
  });
});

test('doctor tries the sandbox', async () => {
  const { stdout } = await command(newProject({}), ['doctor']);
  expect(stdout).toMatch(/^ok +sandbox +bubblewrap can confine steps with rights$/m);
});

test('--no-rights lifts all rights, loudly', async () => {
  const project = newProject(flow('{ write: [out] }'));
  const { stdout, stderr } = await command(project, ['flow', '--no-rights']);
  expect(stdout).toBe('beside out/made \n');
  expect(stderr).toContain('WARNING: the rights of this workflow are lifted.');
});

test('a resume without rights warns again', async () => {
  const project = newProject(
    flow(
      '{ write: [out] }',
      '[ -e go ] || exit 1; echo x > beside; echo "<result>$(cat beside)</result>"',
    ),
  );
  await command(project, ['flow', '--workflow-id', 'r', '--no-rights']);
  project.write('go', '');
  const { stdout, stderr } = await command(project, ['resume', 'r']);
  expect(stdout).toBe('x\n');
  expect(stderr).toContain('WARNING: the rights of this workflow are lifted.');
});

test('init --rights confines all steps of a project, and keeps what its config file says', async () => {
  const project = newProject({ ...flow('{}'), 'flow/workflow.yaml': '' });
  project.write('.raymond/config.toml', '# mine\n[raymond]\nbudget = 5.0\n');
  const { code, stdout } = await command(project, ['init', '--rights']);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Wrote rights'),
  });
  expect(project.read('.raymond/config.toml')).toBe(
    '# mine\n[raymond]\nrights = ["{}"]\nbudget = 5.0\n',
  );
  await command(project, ['flow', '--workflow-id', 'r']);
  expect(project.journal('r').find(({ type }) => type === 'step-started')).toMatchObject({
    rights: { write: [], hide: [], network: [] },
  });
  expect(await command(project, ['init', '--rights'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('already limits'),
  });
});

test('init --rights writes a config file if there is none', async () => {
  const project = newProject({});
  await command(project, ['init', '--rights']);
  expect(await command(project, ['config'])).toMatchObject({
    stdout: expect.stringContaining('rights = ["{}"]'),
  });
});

test('the way to a host holds back no part of a request, also for a step that cannot see its run', async () => {
  const words = `cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep '^\\(TCP-LISTEN\\|PROXY\\):'`;
  const rights = '{ network: ["127.0.0.1:49321"], hide: [.raymond] }';
  const project = newProject(flow(rights, `echo "<result>$(${words} | sort -u)</result>"`));
  const { stdout, stderr } = await command(project, ['flow']);
  const ways = stdout.trimEnd().split('\n');
  expect(
    ways.map((way) => way.slice(0, 16)),
    stderr,
  ).toEqual([...['PROXY:localhost:', 'TCP-LISTEN:1080,', 'TCP-LISTEN:3128,', 'TCP-LISTEN:49321']]);
  for (const way of ways) expect(way).toMatch(/,nodelay$/);
});

test.each([
  ['without a network', '{}'],
  ['with a network', '{ network: [allowed.example] }'],
])('an agent in a worktree commits there, and changes nothing else %s', async (_, rights) => {
  const project = newProject({
    'flow/workflow.yaml': `rights: ${rights}\n`,
    'flow/START.sh': `echo '<fork worktree="fix">WORK</fork><join>END</join>'`,
    'flow/WORK.sh': `echo x > made && git add made && git commit -qm made
echo y > ${'"$(git rev-parse --git-common-dir)"'}/hooks/post-commit
echo z > ../../../../beside
echo "<result>$(git log --format=%s -n 1) $(ls ${'"$RAYMOND_TASK_FOLDER"'} | wc -l)</result>"`,
    'flow/END.sh': 'echo "<result>$RAYMOND_RESULT</result>"',
  });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project.folder });
  git('init', '-q', '-b', 'main');
  for (const [key, value] of [
    ['user.name', 'A'],
    ['user.email', 'a@b.c'],
  ])
    git('config', key ?? '', value ?? '');
  git('add', '.');
  git('commit', '-qm', 'first');
  const { code, stdout, stderr } = await command(project, ['flow', '--workflow-id', 'r']);
  expect({ code, stdout }, stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"made '),
  });
  expect(existsSync(join(project.folder, '.git/hooks/post-commit'))).toBe(false);
  expect(existsSync(join(project.folder, 'beside'))).toBe(false);
});

describe('--learn-rights', () => {
  const script = `mkdir -p made/deep; echo x > made/deep/a; echo y > "$RAYMOND_TASK_FOLDER/own"
echo z > /etc/raymond-made || echo "<result>$(ls made)</result>"`;
  const learning = ['flow', '--learn-rights', '--workflow-id', 'r'];

  test('prints what a run changed, although its workflow allows less', async () => {
    const project = newProject(flow('{ write: [] }', script));
    const { code, stdout, stderr } = await command(project, learning);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'deep\n' });
    expect(stderr).toContain('WARNING: this run learns rights.');
    const block = `START.sh:
  rights: { write: [made], network: none }
  # refused, and perhaps not needed: write /etc/raymond-made\n`;
    expect(stderr).toContain(block);
    expect(await command(project, ['show', 'r', '--rights'])).toMatchObject({
      stdout: expect.stringContaining(block),
    });
  });

  test('prints the hosts that a run reached, if its user allows them', async () => {
    const server = createServer((_, answer) => answer.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const asks = `curl -s -m 5 http://127.0.0.1:${port} > answer
curl -s -m 5 http://other.example; echo "<result>$(cat answer)</result>"`;
    const project = newProject(flow('{}', asks));
    const limits = ['--rights', `{ network: ["127.0.0.1:${port}"] }`];
    const { stdout, stderr } = await command(project, [...learning, ...limits]);
    expect(stdout, stderr).toBe('hello\n');
    expect(stderr).toContain(`  rights: { write: [.], network: ["127.0.0.1:${port}"] }\n`);
    expect(stderr).toContain('# refused, and perhaps not needed: network other.example');
  });

  test('does not go with --no-rights', async () => {
    const project = newProject(flow('{}'));
    expect(await command(project, [...learning, '--no-rights'])).toMatchObject({ code: 64 });
  });
});

test('show --rights lists the states', async () => {
  const project = newProject(flow('{ write: [out] }'));
  await command(project, ['flow', '--workflow-id', 'r']);
  expect(await command(project, ['show', 'r', '--rights'])).toMatchObject({
    stdout: `START.sh
  may      write out · network none
  refused  write beside. To allow it, add it to rights.write of START.sh.\n`,
  });
});

test('a rehearsal shows with which rights a step would start', async () => {
  const project = newProject(flow('{ write: [out] }', "echo '<result>done</result>'"));
  await command(project, ['flow', '--workflow-id', 'r', '--rehearse']);
  expect(await command(project, ['show', 'r', '--rights'])).toMatchObject({
    stdout: 'START.sh\n  may      write out · network none\n',
  });
});

test('a diagram has a lock with the rights of a state', async () => {
  const project = newProject(flow('{ write: [out] }', "echo '<result>done</result>'"));
  const { stdout: svg } = await command(project, ['diagram', 'flow', '--svg']);
  expect(svg).toContain('class="lock"');
  expect(svg).toContain('START: script · bash: may write out · network none');
  expect(svg).toContain('limited by rights');
  const { stdout: mermaid } = await command(project, ['diagram', 'flow']);
  expect(mermaid).toMatch(/START #128274; write out/);
});

test('an agent of the user that names its hosts can be confined', async () => {
  const project = newProject({ 'flow/START.md': '---\nagent: mine\nrights: {}\n---\nWork.' });
  configure(project, '[agents.mine]\ncommand = "/bin/true"\nhosts = ["a.example"]\n');
  const { stderr } = await command(project, ['flow', '--budget', '0']);
  expect(stderr).not.toContain('cannot be confined');
  expect(stderr).toContain('mine ended without an answer');
});

test('an agent that cannot be confined does not start', async () => {
  const project = newProject({ 'flow/START.md': '---\nagent: mine\nrights: {}\n---\nWork.' });
  configure(project, '[agents.mine]\ncommand = "/bin/true"\n');
  const { code, stderr } = await command(project, ['flow', '--budget', '0']);
  expect(code).toBe(64);
  expect(stderr).toContain('The agent mine of START.md cannot be confined to the rights');
});

describe.each([
  ['with a network', '{ write: [out], network: [allowed.example] }'],
  ['without a network', '{ write: [out] }'],
])('a process of the sandbox %s', (_, rights) => {
  const waits = `echo x >> out/begun
until [ -e go ]; do sleep 0.05; done
echo "<result>$(wc -l < out/begun)</result>"`;

  test('outlives Raymond, which adopts the step', async () => {
    const project = newProject(flow(rights, waits));
    const first = project.start(['flow', '--workflow-id', 'r']);
    await eventually('it has begun', () => project.lines('out/begun').length === 1);
    first.child.kill('SIGKILL');
    await first.ended;
    project.write('go', '');
    expect(await project.run(['resume', 'r'])).toMatchObject({ code: 0, stdout: '1\n' });
  });

  test('ends with its step when the run is stopped', async () => {
    const project = newProject(flow(rights, waits));
    const life = project.start(['flow', '--workflow-id', 'r']);
    await eventually('it has begun', () => project.lines('out/begun').length === 1);
    life.child.kill('SIGTERM');
    expect(await life.ended).toMatchObject({ code: 130 });
    expect(await processesLeft(project.folder)).toEqual([]);
  });

  test('begins again when a resume narrows its rights', async () => {
    const wider = rights.replace('[out]', '[out, more]');
    const project = newProject(flow(wider, `echo x > more/made; ${waits}`));
    const first = project.start(['flow', '--workflow-id', 'r']);
    await eventually('it has begun', () => project.lines('out/begun').length === 1);
    first.child.kill('SIGKILL');
    await first.ended;
    const resumed = project.start(['resume', 'r', '--rights', '{ write: [out] }']);
    await eventually('it has begun again', () => project.lines('out/begun').length === 2);
    project.write('go', '');
    const { code, stdout, stderr } = await resumed.ended;
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '2\n' });
    expect(stderr).toContain('its rights are narrower');
    expect(stderr).toContain('the sandbox refused: write ');
    expect(stderr).toContain('more/made');
  });
});

function configure({ userConfig }: Project, text: string): void {
  mkdirSync(userConfig, { recursive: true, mode: 0o700 });
  writeFileSync(join(userConfig, 'config.toml'), text, { mode: 0o600 });
}

test('a worktree in which only a sandbox holds places has no work in it', async () => {
  const project = newProject({});
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project.folder });
  git('init', '-q', '-b', 'main');
  git(
    '-c',
    'user.name=A',
    '-c',
    'user.email=a@b.c',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'first',
  );
  const status = () => treeStatus(project.path('.git'), project.folder);
  for (const name of ['.mcp.json', '.bashrc'])
    writeFileSync(project.path(name), '', { mode: 0o444 });
  expect(await status()).toMatchObject({ isChanged: false });
  // An agent's own empty file can be written.
  writeFileSync(project.path('.npmrc'), '');
  expect(await status()).toMatchObject({ isChanged: true });
});
