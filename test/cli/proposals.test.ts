// Agents propose workflows, and only a person lets them into the project.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { propose } from '../../src/app/propose.ts';
import { visible } from '../../src/model/visible.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { BIN, type Project } from '../raymond.ts';

const may = (entries: string) => `---\nallowed_transitions: [${entries}]\n---\nGo on.\n`;
const START = may('{ tag: goto, target: END }');
const END = may('{ tag: result }');
const FLOW = [
  { name: 'START.md', content: START },
  { name: 'END.md', content: END },
];

type Files = Parameters<typeof propose>[1]['files'];

function temporaryIn(project: Project): string {
  const folder = project.path('../temporary');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** What an agent does through its tool, in the environment of the user. */
async function proposedIn(project: Project, files: Files, workflow = 'flow', why = 'It helps.') {
  const own = { ...project.environment, TMPDIR: temporaryIn(project) };
  const before = Object.keys(own).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, own);
  try {
    const around = await surroundings({ cwd: project.folder });
    return await propose(around, { workflow, why, files }).finally(() => around.world.close());
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
}

async function idIn(project: Project, files: Files = FLOW, why?: string): Promise<string> {
  const proposed = await proposedIn(project, files, 'flow', why);
  if (proposed.kind !== 'kept') throw new Error(JSON.stringify(proposed));
  return proposed.proposal.id;
}

const trust = (project: Project, ...more: readonly string[]) =>
  command(project, ['trust', '--proposals', ...more]);

/** The folder with the only proposals of the user. */
function storeOf(project: Project): string {
  const all = join(project.environment.XDG_STATE_HOME ?? '', 'raymond', 'proposals');
  return join(all, readdirSync(all)[0] ?? '');
}

test('a proposal changes nothing until a person accepts it', async () => {
  const project = newProject({});
  const id = await idIn(project);
  expect(id).toMatch(/^flow-[0-9a-f]{16}$/);
  expect(existsSync(project.path('flow'))).toBe(false);
  const [file = ''] = readdirSync(storeOf(project));
  expect(statSync(storeOf(project)).mode & 0o777).toBe(0o700);
  expect(statSync(join(storeOf(project), file)).mode & 0o777).toBe(0o600);
  expect(readdirSync(temporaryIn(project))).toEqual([]);

  expect((await trust(project)).stdout).toMatch(new RegExp(`${id} +flow +2 +\\d+ s +It helps\\.`));
  const looked = await trust(project, id);
  expect(looked).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('Nothing was written.'),
  });
  expect(looked.stdout).toContain(
    `flow/END.md (new)\n+ ---\n+ allowed_transitions: [{ tag: result }]\n+ ---\n+ Go on.\n`,
  );
  expect(looked.stdout).toContain('verdict   ready\n');
  expect(existsSync(project.path('flow'))).toBe(false);

  const accepted = await trust(project, id, '--yes');
  expect(accepted).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Wrote 2 files to flow.'),
  });
  expect(project.read('flow/START.md')).toBe(START);
  expect(statSync(project.path('flow/END.md')).mode & 0o777).toBe(0o600);
  expect((await trust(project)).stderr).toContain('No agent has proposed');
});

test('a person at a terminal answers a question', async () => {
  const project = newProject({});
  const id = await idIn(project);
  const terminal = atTerminal(project, ['trust', '--proposals', id]);
  await eventually('it asks', () => terminal.screen().includes('Write these files? [yes/no]'));
  expect(existsSync(project.path('flow'))).toBe(false);
  terminal.type('yes\r');
  expect(await terminal.ended).toBe(0);
  expect(project.read('flow/END.md')).toBe(END);
});

test('a changed workflow is shown as its changes, keeps its other files and their modes', async () => {
  const project = newProject({ 'flow/START.md': START, 'flow/END.md': END, 'flow/run.py': 'x' });
  chmodSync(project.path('flow/END.md'), 0o644);
  const id = await idIn(project, [{ name: 'END.md', content: END.replace('Go on.', 'Say so.') }]);
  const { stdout } = await trust(project, id, '--yes');
  expect(stdout).toContain(
    'flow/END.md (changed)\n  ---\n  allowed_transitions: [{ tag: result }]\n  ---\n- Go on.\n+ Say so.\n',
  );
  expect(project.read('flow/END.md')).toContain('Say so.');
  expect(project.read('flow/START.md')).toBe(START);
  expect(statSync(project.path('flow/END.md')).mode & 0o777).toBe(0o644);
});

test('a faulty proposal is not kept, and its report names the place where it would be', async () => {
  const project = newProject({ 'other/START.md': END });
  const faulty = await proposedIn(project, [
    { name: 'START.md', content: may('{ tag: goto, target: X }') },
  ]);
  expect(faulty).toMatchObject({ kind: 'faulty', report: { verdict: 'faulty' } });
  expect(faulty.report.findings[0]?.file).toMatch(/\/flow\/START\.md$/);
  expect(JSON.stringify(faulty)).not.toContain('raymond-proposal-');
  const unreadable = await proposedIn(project, [{ name: 'NEXT.md', content: END }]);
  expect(unreadable).toMatchObject({ kind: 'faulty', report: { rehearsal: null } });
  expect(JSON.stringify(unreadable)).not.toContain('raymond-proposal-');
  expect((await trust(project)).stderr).toContain('No agent has proposed');
  // Paths of tags begin where the workflow would be.
  const caller = [
    { name: 'START.md', content: may('{ tag: call-workflow, path: ../other, return: END }') },
    { name: 'END.md', content: END },
    { name: 'rehearsal.yaml', content: 'answers: { END: "<result>mine</result>" }\n' },
  ];
  expect(await proposedIn(project, caller)).toMatchObject({
    kind: 'kept',
    report: { verdict: 'ready', rehearsal: { outcome: 'completed', result: 'mine' } },
  });
});

test.each([
  '../../.bashrc',
  '.bashrc',
  'sub/START.md',
  'opencode.json',
  'package.json',
  'START.md\u0000',
  'A\u001b[2J.md',
  'A\u202e.md',
  'A\u200b.md',
  '-rf.md',
  'Makefile',
  'run.py',
  '.md',
  'A.md ',
  'E\u0301.md',
])('a file named %j is refused', async (name) => {
  const project = newProject({});
  const files = [...FLOW, { name, content: END }];
  const { message, code } = await proposedIn(project, files).then(
    () => ({ message: '', code: 'kept' }),
    (error) => error,
  );
  expect(code).toBe('wrong-name');
  expect(visible(message)).toBe(message);
  expect(existsSync(join(project.environment.XDG_STATE_HOME ?? '', 'raymond'))).toBe(false);
});

test.each([
  ['.'],
  ['..'],
  ['../elsewhere'],
  ['/etc/flow'],
  ['.git/hooks'],
  ['.claude/skills/x'],
  ['.raymond/flow'],
  ['node_modules/x'],
  ['a\u001b[31mb'],
  ['linked'],
  ['linked/flow'],
  ['src'],
  ['a/b/c/d/e/f/g/h/i'],
])('a workflow at %j is refused', async (folder) => {
  const project = newProject({ 'src/index.js': 'x', '../elsewhere/START.md': END });
  symlinkSync(project.path('..', 'elsewhere'), project.path('linked'));
  await expect(proposedIn(project, FLOW, folder)).rejects.toMatchObject({ code: 'wrong-place' });
});

test('10,000 files, large files, the same name twice and too many proposals are refused', async () => {
  const project = newProject({});
  const many = Array.from({ length: 10_000 }, (_, n) => ({ name: `S${n}.md`, content: END }));
  const large = { name: 'BIG.txt', content: 'x'.repeat(200_000) };
  const some = Array.from({ length: 6 }, (_, n) => ({
    name: `${n}.txt`,
    content: 'x'.repeat(100_000),
  }));
  for (const files of [
    many,
    [...FLOW, large],
    [...FLOW, ...some],
    [],
    [{ name: 'START.md', content: 'a\0' }],
  ])
    await expect(proposedIn(project, files)).rejects.toMatchObject({ code: 'proposal-too-large' });
  const twice = [...FLOW, { name: 'start.md', content: END }];
  await expect(proposedIn(project, twice)).rejects.toMatchObject({ code: 'wrong-name' });
  for (let n = 0; n < 20; n++) await idIn(project, FLOW, `reason ${n}`);
  await expect(proposedIn(project, FLOW)).rejects.toMatchObject({ code: 'too-many-proposals' });
  // The same one again is no new one.
  expect(await idIn(project, FLOW, 'reason 0')).toMatch(/^flow-/);
}, 60_000);

test('only what was shown is accepted', async () => {
  const project = newProject({ 'flow/START.md': START, 'flow/END.md': END });
  const changed = [{ name: 'END.md', content: END.replace('Go on.', 'Say so.') }];
  const id = await idIn(project, changed);
  // The target was replaced after the proposal.
  project.write('flow/END.md', `${END}More.\n`);
  expect(await trust(project, id, '--yes')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('END.md has changed since the proposal was made'),
  });
  project.write('flow/END.md', END);
  // The proposal was replaced after it was shown: its id no longer fits.
  const file = join(storeOf(project), `${id}.json`);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('Say so.', 'Delete everything.'));
  expect((await trust(project, id, '--yes')).stderr).toContain(`no proposal ${id}`);
  writeFileSync(file, text.replace('"folder": "flow"', '"folder": "../../flow"'));
  expect((await trust(project, id, '--yes')).stderr).toContain(`no proposal ${id}`);
  writeFileSync(file, text);
  // The folder became a link to another place.
  renameSync(project.path('flow'), project.path('..', 'moved'));
  symlinkSync(project.path('..', 'moved'), project.path('flow'));
  expect((await trust(project, id, '--yes')).stderr).toContain('A proposal cannot be for');
  expect(readFileSync(project.path('..', 'moved', 'END.md'), 'utf8')).toBe(END);
  rmSync(project.path('flow'));
  renameSync(project.path('..', 'moved'), project.path('flow'));
  // A file of the user that others can write has no authority.
  chmodSync(file, 0o666);
  expect((await trust(project, id, '--yes')).stderr).toContain('other users can change it');
  chmodSync(file, 0o600);
  expect(await trust(project, id, '--yes')).toMatchObject({ code: 0 });
});

test('everything that could act on a terminal or hide is visible', async () => {
  const project = newProject({});
  const files = [{ name: 'START.md', content: `${END}\u001b]0;x\u0007\u202e\u200b\rx\n` }];
  const id = await idIn(project, files, 'good\u001b[2K\nraymond: all is well');
  const { stdout } = await command(project, ['trust', '--proposals', id], { isTerminal: true });
  expect(visible(stdout)).toBe(stdout);
  expect(stdout).toContain('\\x1b]0;x\\x07\\u{202e}\\u{200b}\\x0dx');
  expect(stdout).toContain('  | good\\x1b[2K\n  | raymond: all is well');
});

test('a proposal can be rejected, and another project does not see it', async () => {
  const project = newProject({});
  const id = await idIn(project);
  const other = newProject({});
  const seen = await command({ folder: other.folder, environment: project.environment }, [
    'trust',
    '--proposals',
    id,
    '--yes',
  ]);
  expect(seen.stderr).toContain(`no proposal ${id}`);
  expect(await trust(project, '--revoke', id)).toMatchObject({ code: 0 });
  expect((await trust(project, id, '--yes')).stderr).toContain(`no proposal ${id}`);
});

test('an agent inside a run accepts and rejects nothing', async () => {
  const project = newProject({});
  const id = await idIn(project);
  const raymond = `"${process.execPath}" "${BIN}" trust --proposals`;
  mkdirSync(project.path('tries'));
  project.write(
    'tries/START.sh',
    `${raymond} ${id} --yes >>said 2>&1
env -i HOME="$HOME" XDG_STATE_HOME="$XDG_STATE_HOME" ${raymond} ${id} --yes >>said 2>&1
setsid ${raymond} --revoke ${id} >>said 2>&1
script -qc '${raymond} ${id} --yes' /dev/null >>said 2>&1
echo '<result>tried</result>'\n`,
  );
  const { stdout } = await project.run(['tries']);
  expect(stdout).toBe('tried\n');
  const said = project.read('said');
  expect(said.match(/only a person can (accept|reject) a proposal/g)).toHaveLength(4);
  expect(existsSync(project.path('flow'))).toBe(false);
  await eventually('it is still there', async () => (await trust(project)).stdout.includes(id));
});
