// Variants of runs, with the built program: each is carried by a process of its own.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bytesOfRun } from '../bytes-of-run.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const WHO = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];

function git(project: Project, ...args: string[]): string {
  return execFileSync('git', ['-C', project.folder, ...WHO, ...args], { encoding: 'utf8' });
}

/** The commit is dated after everything that the test does next, as far as git can tell. */
function commitLate(project: Project, message: string): void {
  const env = { ...process.env, GIT_COMMITTER_DATE: `@${Math.ceil(Date.now() / 1000) + 60} +0000` };
  execFileSync('git', ['-C', project.folder, ...WHO, 'commit', '-qm', message], { env });
}

function repository(
  files: Readonly<Record<string, string>>,
  name?: string,
  commit: (project: Project) => void = (one) => git(one, 'commit', '-qm', 'first'),
): Project {
  const project = newProject(files, name);
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'add', '--all');
  commit(project);
  return project;
}

const WORK = {
  'w/START.sh': `echo one >a.txt; echo '<goto>REVIEW</goto>'`,
  'w/REVIEW.sh': `echo reviewed >>a.txt; echo '<call return="END">SUB</call>'`,
  'w/SUB.sh': `echo '<result>sub</result>'`,
  'w/END.sh': `echo end >b.txt; echo "<result>$(tr '\\n' ' ' <a.txt)$RAYMOND_RESULT</result>"`,
};
const BETTER = `echo better >>a.txt; echo '<call return="END">SUB</call>'`;

/** A finished run with a record of files before each step. */
async function finished(
  files: Readonly<Record<string, string>> = WORK,
  ...more: [name?: string, commit?: (project: Project) => void]
): Promise<Project> {
  const project = repository(files, ...more);
  const args = ['w', '--workflow-id', 'r', '--checkpoints', 'steps', '--quiet'];
  expect(await command(project, args)).toMatchObject({ code: 0 });
  return project;
}

interface Shown {
  readonly moments: readonly {
    readonly origin: Row;
    readonly variants: readonly (Row & {
      readonly changes: Readonly<Record<string, string>>;
      readonly branch: string | null;
      readonly merge: string | null;
      readonly worktree: string | null;
    })[];
  }[];
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly path: readonly string[];
  readonly steps: number;
  readonly result: { readonly text: string } | null;
  readonly files: object | null;
}

async function tried(project: Project, ...args: string[]) {
  const { code, stdout, stderr } = await project.run(['try', 'r', ...args, '--json']);
  expect(stdout, stderr).not.toBe('');
  const [moment] = (JSON.parse(stdout) as Shown).moments;
  if (!moment) throw new Error('There are no variants.');
  return { code, stderr, origin: moment.origin, variants: moment.variants };
}

const own = (project: Project) => bytesOfRun({ folder: project.folder, run: 'r' });

test('variants go on in worktrees, the run stays as it is, and a merge adopts one', async () => {
  const project = await finished(WORK, 'größe und mehr');
  project.write('v/REVIEW.sh', BETTER);
  project.write('mine.txt', 'untracked');
  const before = own(project);
  const { code, origin, variants } = await tried(
    project,
    ...['--at', 'main:2', '--with', 'v/REVIEW.sh', '--times', '2'],
  );
  expect(code).toBe(0);
  expect(origin).toMatchObject({ id: 'r', steps: 3, path: ['REVIEW', 'SUB', 'END'] });
  expect(variants).toHaveLength(2);
  for (const variant of variants)
    expect(variant).toMatchObject({
      status: 'completed',
      path: ['REVIEW', 'SUB', 'END'],
      steps: 3,
      result: { text: 'one better sub' },
      files: { files: 2, added: 2, removed: 0 },
      changes: { with: 'v/REVIEW.sh' },
    });
  expect(own(project)).toEqual(before);

  const [one, two] = variants;
  const show = await command(project, ['show', one?.id ?? '']);
  expect(show.stdout).toContain('of r, from before main:2: with v/REVIEW.sh');
  expect((await command(project, ['list'])).stdout).toContain('variant of r');
  const row = JSON.parse((await command(project, ['show', one?.id ?? '', '--json'])).stdout);
  expect(row.origin).toEqual({
    ...{ run: 'r', agent: 'main', step: 2 },
    ...{ changes: { with: 'v/REVIEW.sh' }, number: 1 },
  });

  // An ordinary merge. The files of the run itself are in the way, as those of a user would be.
  expect(() => git(project, 'merge', '-q', one?.branch ?? '')).toThrow();
  rmSync(project.path('a.txt'));
  rmSync(project.path('b.txt'));
  git(project, 'merge', '-q', one?.branch ?? '');
  expect(project.read('a.txt')).toBe('one\nbetter\n');
  expect(project.read('mine.txt')).toBe('untracked');
  // What is merged can be removed, and what exists nowhere else is kept.
  const ids = variants.map(({ id }) => id);
  const pruned = await command(project, ['prune', ...ids]);
  expect(pruned.stdout).toContain(`removed ${ids[0]}`);
  expect(pruned.stderr).toContain(`kept ${ids[1]}`);
  expect(git(project, 'branch', '--list', 'raymond/*')).toContain(two?.branch ?? '-');
});

test('the same command continues, and other texts or more repetitions are new variants', async () => {
  const project = await finished();
  project.write('v/REVIEW.sh', BETTER);
  const at = ['--at', 'main:2', '--with', 'v/REVIEW.sh'];
  const first = await tried(project, ...at);
  const again = await tried(project, ...at, '--times', '2');
  const ids = again.variants.map(({ id }) => id);
  expect(ids).toContain(first.variants[0]?.id);
  expect(ids).toHaveLength(2);
  project.write('v/REVIEW.sh', BETTER.replace('better', 'best'));
  const other = await tried(project, ...at);
  expect(ids).not.toContain(other.variants[0]?.id);
  expect(other.variants[0]?.result?.text).toBe('one best sub');
  // Without a step, all of them.
  const all = await tried(project);
  expect(all.variants).toHaveLength(3);
});

test('a variant of a state that received an answer with files receives them, too', async () => {
  const project = repository({
    'w/START.sh': `echo '<ask next="END">Where is it?</ask>'`,
    'w/END.sh': `echo "<result>$(cat "$RAYMOND_ANSWER_FILES")</result>"`,
    'sketch.txt': 'a sketch',
  });
  const args = ['w', '--workflow-id', 'r', '--checkpoints', 'steps', '--quiet', '--no-wait'];
  expect(await command(project, args)).toMatchObject({ code: 2 });
  await command(project, ['answer', 'r', 'here', '--file', project.path('sketch.txt')]);
  expect(await command(project, ['resume', 'r', '--quiet'])).toMatchObject({
    code: 0,
    stdout: 'a sketch\n',
  });
  const { variants } = await tried(project, '--at', 'main:2');
  expect(variants).toMatchObject([{ status: 'completed', result: { text: 'a sketch' } }]);
});

test('a variant without changes repeats the step, and leaves no worktree if nothing changes', async () => {
  const project = await finished({ ...WORK, 'w/END.sh': `echo '<result>x</result>'` });
  const { variants } = await tried(project, '--at', 'main:4');
  expect(variants).toMatchObject([
    { path: ['END'], changes: {}, files: { files: 0 }, branch: null, worktree: null },
  ]);
  expect(git(project, 'branch', '--list', 'raymond/*')).toBe('');
});

test.each([
  ['before the run', undefined],
  ['in the second of the moment', (project: Project) => commitLate(project, 'first')],
])(
  'commits of later steps and of the user are not taken back by a merge, if the first was %s',
  async (_, first) => {
    const later = `git add a.txt; git -c user.name=x -c user.email=x@x commit -qm later`;
    const files = { ...WORK, 'w/END.sh': `${later}; echo '<result>x</result>'` };
    const project = await finished(files, undefined, first);
    project.write('user.txt', 'mine');
    git(project, 'add', 'user.txt');
    commitLate(project, 'by the user');
    project.write('v/SUB.sh', `echo sub >sub.txt; echo '<result>x</result>'`);
    const { variants } = await tried(project, '--at', 'main:3', '--with', 'v', '--steps', '1');
    expect(variants).toMatchObject([{ status: 'stopped', path: ['SUB', 'END'] }]);
    git(project, 'merge', '-q', variants[0]?.branch ?? '');
    expect(project.read('user.txt')).toBe('mine');
    expect(project.read('a.txt')).toBe('one\nreviewed\n');
    expect(project.read('sub.txt')).toBe('sub\n');
  },
);

test('a changed workflow is used as it is now, with a warning', async () => {
  const project = await finished();
  project.write('w/REVIEW.sh', BETTER);
  const { variants, stderr } = await tried(project, '--at', 'main:2');
  expect(variants[0]?.result?.text).toBe('one better sub');
  expect(stderr).toContain('have changed since r read them');
  expect(stderr).toContain('REVIEW.sh');
});

test('a variant whose process is killed goes on, and so does a command that is killed', async () => {
  const project = await finished();
  const open = project.path('open');
  project.write(
    'v/SUB.sh',
    `echo x >>tries; until [ -e '${open}' ]; do sleep 0.02; done; echo '<result>late</result>'`,
  );
  const before = own(project);
  const args = ['try', 'r', '--at', 'main:3', '--with', 'v', '--times', '2', '--json'];
  const trying = project.start(args);
  const begun = () => runsOf(project).filter((id) => hasStarted(project, id));
  await eventually('both variants work', async () => begun().length === 2);
  trying.child.kill('SIGKILL');
  const [victim = ''] = begun();
  const { pid } = JSON.parse((await command(project, ['show', victim, '--json'])).stdout);
  process.kill(pid, 'SIGKILL');
  const again = project.start(args);
  await eventually('another process has it', async () => {
    const shown = JSON.parse((await command(project, ['show', victim, '--json'])).stdout);
    return shown.pid !== null && shown.pid !== pid;
  });
  expect(own(project)).toEqual(before);
  writeFileSync(open, '');
  const ended = await again.ended;
  expect(ended.code, ended.stderr).toBe(0);
  const [moment] = (JSON.parse(ended.stdout) as Shown).moments;
  expect(moment?.variants.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(moment?.variants[0]?.result?.text).toContain('late');
  // The script of the killed one was adopted, and did not run again.
  for (const { worktree } of moment?.variants ?? [])
    expect(project.lines(join(worktree ?? '', 'tries').slice(project.folder.length + 1))).toEqual([
      'x',
    ]);
});

const runsOf = (project: Project) =>
  readdirSync(project.path('.raymond/state')).flatMap((name) =>
    /^w-.*\.jsonl$/.test(name) ? [name.slice(0, -6)] : [],
  );
const hasStarted = (project: Project, id: string) =>
  project.journal(id).some(({ type }) => type === 'step-started');

test.each([
  { why: 'no agent', args: ['--at', 'x:1'], says: 'r has no agent x.' },
  { why: 'no step', args: ['--at', 'main:9'], says: 'main of r has no step 9.' },
  { why: 'no name of a step', args: ['--at', 'main'], says: '"main" is not the name of a step.' },
  { why: 'nothing yet', args: [], says: 'r has no variants yet.' },
  { why: 'no file', args: ['--at', '2', '--with', 'none.sh'], says: 'none.sh cannot be read' },
  { why: 'no state', args: ['--at', '2', '--with', 'x.txt'], says: 'no state x.txt' },
  { why: 'no count', args: ['--at', '2', '--times', '0'], says: 'no value of --times' },
  { why: 'no amount', args: ['--at', '2', '--budget', 'x'], says: 'no value of --budget' },
])('it refuses: $why', async ({ args, says }) => {
  const project = await finished();
  project.write('x.txt', 'x');
  const before = own(project);
  const { code, stderr } = await command(project, ['try', 'r', ...args]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(says);
  expect(own(project)).toEqual(before);
  expect(runsOf(project)).toEqual([]);
});

test('it refuses unknown files, a missing repository, a rehearsal and a missing state', async () => {
  const unrecorded = repository(WORK);
  await command(unrecorded, ['w', '--workflow-id', 'r', '--quiet']);
  const refused = async (project: Project, ...args: string[]) =>
    (await command(project, ['try', 'r', '--at', 'main:2', ...args])).stderr;
  expect(await refused(unrecorded)).toMatch(/are not known.*--no-files.*--checkpoints steps/s);
  const bare = newProject(WORK);
  await command(bare, ['w', '--workflow-id', 'r', '--quiet']);
  expect(await refused(bare)).toMatch(/is in no git repository.*--no-files/s);
  const rehearsed = newProject(WORK);
  await command(rehearsed, ['w', '--workflow-id', 'r', '--rehearse', '--quiet']);
  expect(await refused(rehearsed)).toContain('is a rehearsal');
  const gone = await finished();
  rmSync(gone.path('w/REVIEW.sh'));
  expect(await refused(gone)).toContain('REVIEW.sh is no longer in');
});

test('without files, variants work in the directory one after another', async () => {
  const project = newProject(WORK);
  await command(project, ['w', '--workflow-id', 'r', '--quiet']);
  project.write('v/REVIEW.sh', BETTER);
  const { variants } = await tried(
    project,
    ...['--at', 'main:2', '--with', 'v', '--no-files', '--times', '2'],
  );
  const texts = variants.map(({ result }) => result?.text).sort();
  expect(texts).toEqual(['one reviewed better better sub', 'one reviewed better sub']);
  expect(variants).toMatchObject([
    { files: null, branch: null },
    { files: null, branch: null },
  ]);
});

test('a run that works is refused, and so is one of a stranger without consent', async () => {
  const project = repository({
    ...WORK,
    'w/END.sh': `until [ -e open ]; do sleep 0.02; done; echo '<result>x</result>'`,
  });
  const args = ['w', '--workflow-id', 'r', '--checkpoints', 'steps', '--quiet'];
  const running = project.start(args);
  await eventually('it works', async () =>
    project.journal('r').some((event) => event.type === 'step-started' && event.step === 4),
  );
  const refused = await command(project, ['try', 'r', '--at', 'main:2']);
  expect(refused.stderr).toMatch(/has not ended.*raymond stop r/s);
  project.write('open', '');
  expect(await running.ended).toMatchObject({ code: 0 });

  const stranger = { XDG_STATE_HOME: project.path('../.stranger') };
  const before = own(project);
  const foreign = await command(project, ['try', 'r', '--at', 'main:2'], { env: stranger });
  expect(foreign.stderr).toMatch(/needs your approval.*raymond try r --trust-run/s);
  expect(own(project)).toEqual(before);
  expect(existsSync(project.path('.raymond/worktrees'))).toBe(false);
});

test('a total budget leaves variants out that it cannot pay for', async () => {
  const project = await finished();
  const { code, variants, stderr } = await tried(
    project,
    ...['--at', 'main:2', '--times', '3', '--budget', '2', '--total-budget', '0.5'],
    ...['--max-parallel', '1'],
  );
  // Scripts cost nothing, so each gets what is left.
  expect([code, variants.length]).toEqual([0, 3]);
  expect(stderr).not.toContain('does not begin');
});

test('children: alone where others are at work, and the whole run where they rest', async () => {
  const project = await finished({
    'w/START.sh': `echo '<fork next="WAIT">A</fork><fork>B</fork>'`,
    'w/WAIT.sh': `echo '<join>END</join>'`,
    'w/A.sh': `until [ -e b-works ]; do sleep 0.02; done; echo '<goto>A2</goto>'`,
    'w/A2.sh': `touch a2-works; echo a >a.txt; echo '<result>a</result>'`,
    'w/B.sh': `touch b-works; until [ -e a2-works ]; do sleep 0.02; done; echo '<goto>B2</goto>'`,
    'w/B2.sh': `echo '<result>b</result>'`,
    'w/END.sh': `echo '<result>joined</result>'`,
  });
  const refused = await command(project, ['try', 'r', '--at', 'main_a1:2', '--no-files']);
  expect(refused.stderr).toMatch(/main_b2 was in the middle of a step.*--alone/s);
  const alone = await tried(project, '--at', 'main_a1:2', '--no-files', '--alone');
  expect(alone.variants).toMatchObject([{ status: 'completed', path: ['A2'], steps: 1 }]);
  const { variants } = await tried(project, '--at', 'main:3', '--no-files');
  expect(variants.at(-1)).toMatchObject({ status: 'completed', result: { text: 'joined' } });
});

test('a branch of the same name is left alone, and so is a run of the same id', async () => {
  const project = await finished();
  const [first] = (await tried(project, '--at', 'main:2')).variants;
  const id = first?.id ?? '';
  await command(project, ['prune', id, '--discard-worktrees', '--yes']);
  git(project, 'branch', first?.branch ?? '', 'HEAD');
  const { code, variants } = await tried(project, '--at', 'main:2');
  expect(code).toBe(1);
  expect(variants).toMatchObject([{ id, status: 'failed' }]);
  expect((await command(project, ['show', id])).stdout).toContain('already');
  expect(git(project, 'rev-parse', first?.branch ?? '')).toBe(git(project, 'rev-parse', 'HEAD'));

  await command(project, ['prune', id, '--discard-worktrees', '--yes']);
  await command(project, ['w', '--workflow-id', id, '--max-iterations', '1', '--quiet']);
  const clash = await project.run(['try', 'r', '--at', 'main:2']);
  expect(clash.stderr).toContain(`${id} exists, but it is no variant of this run.`);
  expect(project.journal(id).filter(({ type }) => type === 'run-resumed')).toEqual([]);
});

test('a variant can itself be tried, with the texts that it had', async () => {
  const project = await finished();
  project.write('v/REVIEW.sh', BETTER);
  const [first] = (await tried(project, '--at', 'main:2', '--with', 'v', '--steps', '1')).variants;
  const args = ['try', first?.id ?? '', '--at', 'main:1', '--json'];
  const { stdout, stderr } = await project.run(args);
  expect(JSON.parse(stdout || stderr).moments).toMatchObject([
    { variants: [{ status: 'completed', result: { text: 'one better sub' } }] },
  ]);
});
