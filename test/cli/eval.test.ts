// Evals, with the built program: each run is carried by a process of its own.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

/** Each start of a state is noted in `starts`, which is outside of all folders of cells. */
const WORK = {
  'w/START.sh': `echo start >>"$STARTS"; echo "$RAYMOND_INPUT" >essay.txt; echo '<goto>REVIEW</goto>'`,
  'w/REVIEW.sh': `echo fine >>essay.txt; echo '<goto>END</goto>'`,
  'w/END.sh': `echo "<result>$(tail -n 1 essay.txt)</result>"`,
  'w/strict/REVIEW.sh': `echo 'too short' >>essay.txt; echo '<goto>END</goto>'`,
  'w/scorers/LINES.sh': `echo score >>"$STARTS"; echo "<result>$(wc -l <essay.txt) lines for $task</result>"`,
};

const EVAL = `
cases:
  - { name: first, input: one, expected: too short }
  - { name: second, input: two, expected: too short, files: { other.txt: x } }
variants:
  - { name: strict, with: strict/REVIEW.sh }
scorers:
  - { name: right, result: equals }
  - { name: lines, by: scorers/LINES.sh }
repetitions: 2
`;

interface Outcome {
  readonly cost_usd: number;
  readonly variants: readonly {
    readonly variant: string | null;
    readonly completed: number;
    readonly measures: Readonly<
      Record<string, { readonly summary: object | null; readonly difference: object | null }>
    >;
  }[];
  readonly gate: readonly { readonly passed: boolean; readonly why: string }[];
  readonly runs: readonly {
    readonly id: string;
    readonly case: string;
    readonly variant: string | null;
    readonly number: number;
    readonly status: string;
    readonly result: { readonly text: string } | null;
    readonly scores: Readonly<
      Record<
        string,
        { readonly score: number | null; readonly note: string; readonly run: string | null }
      >
    >;
  }[];
}

const made = (
  text = EVAL,
  files: Readonly<Record<string, string>> = WORK,
  name?: string,
): Project => newProject({ ...files, 'w/eval.yaml': text, 'mine.txt': 'mine' }, name);

const starts = (project: Project) => ({ STARTS: project.path('../starts') });
const started = (project: Project) => project.lines('../starts');

async function evaluated(project: Project, ...args: string[]) {
  const { code, stdout, stderr } = await project.run(['eval', 'w', ...args, '--json'], {
    env: starts(project),
  });
  expect(stdout, stderr).not.toBe('');
  const outcome: Outcome = JSON.parse(stdout);
  return { code, stderr, outcome };
}

const runsIn = (project: Project) =>
  readdirSync(project.path('.raymond/state')).flatMap((name) =>
    name.endsWith('.jsonl') ? [name.slice(0, -6)] : [],
  );

test('cases, variants and repetitions are runs of their own, with scores and a comparison', async () => {
  const project = made(EVAL, WORK, 'größe und mehr');
  const { code, outcome } = await evaluated(project);
  expect(code).toBe(0);
  expect(outcome.runs).toHaveLength(8);
  for (const run of outcome.runs)
    expect(run).toMatchObject({
      status: 'completed',
      result: { text: run.variant === null ? 'fine' : 'too short' },
      scores: {
        right: { score: run.variant === null ? 0 : 1, run: null },
        lines: { score: 2, note: `lines for ${run.case === 'first' ? 'one' : 'two'}` },
      },
    });
  expect(outcome.variants).toMatchObject([
    {
      variant: null,
      completed: 4,
      measures: { right: { summary: { mean: 0 }, difference: null } },
    },
    {
      variant: 'strict',
      measures: {
        right: { difference: { pairs: 4, mean: 1, verdict: 'too-few', needed: 7 } },
        cost: { difference: { pairs: 4, mean: 0 } },
      },
    },
  ]);
  // Nothing of the project has changed.
  expect(readdirSync(project.folder).sort()).toEqual(['.git', '.raymond', 'mine.txt', 'w']);
  expect(readdirSync(project.path('w')).sort()).toEqual(
    ['END.sh', 'REVIEW.sh', 'START.sh', 'eval.yaml', 'scorers', 'strict'].sort(),
  );

  // A list and `show` name the eval.
  const { id = '' } = outcome.runs.find((run) => run.variant !== null) ?? {};
  expect((await command(project, ['show', id])).stdout).toMatch(
    /eval {6}case first, strict, #1 of .*w\/eval\.yaml/,
  );
  expect((await command(project, ['list'])).stdout).toContain('eval c');
  expect(JSON.parse((await command(project, ['show', id, '--json'])).stdout).cell).toMatchObject({
    ...{ case: 'first', variant: 'strict', number: 1, changes: { with: 'strict/REVIEW.sh' } },
    scores: null,
  });
  const { cwd } = JSON.parse((await command(project, ['show', id, '--json'])).stdout);
  expect(statSync(cwd).mode & 0o777).toBe(0o700);
  expect(statSync(`${cwd}/..`).mode & 0o777).toBe(0o700);
});

test('the same command repeats nothing, more repetitions add, and a changed scorer only scores', async () => {
  const project = made();
  const first = await evaluated(project);
  expect(started(project).toSorted()).toEqual([
    ...Array(8).fill('score'),
    ...Array(8).fill('start'),
  ]);
  const bytes = () =>
    first.outcome.runs.map(({ id: run }) => bytesOfRun({ folder: project.folder, run }));
  const before = bytes();
  const second = await evaluated(project);
  expect(second.outcome).toEqual(first.outcome);
  expect(bytes()).toEqual(before);
  expect(started(project)).toHaveLength(16);

  const more = await evaluated(project, '--times', '3');
  expect(more.outcome.runs).toHaveLength(12);
  expect(started(project)).toHaveLength(24);

  project.write('w/scorers/LINES.sh', `echo score >>"$STARTS"; echo '<result>7</result>'`);
  const rescored = await evaluated(project);
  expect(rescored.outcome.runs[0]?.scores.lines).toMatchObject({ score: 7 });
  expect(started(project).filter((line) => line === 'start')).toHaveLength(12);
  expect(started(project).filter((line) => line === 'score')).toHaveLength(20);

  // A changed prompt is another workflow, and gives other runs.
  project.write('w/END.sh', `echo '<result>other</result>'`);
  const changed = await evaluated(project, '--times', '1');
  expect(changed.outcome.runs).toHaveLength(4);
  expect(changed.outcome.runs[0]?.result?.text).toBe('other');
  // From another directory of the project, the runs are the same.
  project.write('below/x', '');
  const elsewhere = await project.run(['eval', '../w', '--times', '1', '--json'], {
    cwd: project.path('below'),
    env: starts(project),
  });
  expect(JSON.parse(elsewhere.stdout).runs.map(({ id }: { id: string }) => id)).toEqual(
    changed.outcome.runs.map(({ id }) => id),
  );
});

test('a case can begin at a commit, in a worktree, and scorers see what is left', async () => {
  const project = newProject({
    'w/START.sh': `cat given.txt >made.txt; echo changed >given.txt; echo '<result>done</result>'`,
    'w/scorers/FILES.sh': `git diff --quiet || exit 1; echo "<result>$(cat made.txt | wc -l) $(cat given.txt)</result>"; echo junk >given.txt`,
    'w/eval.yaml': `
cases: [{ name: a, commit: main }]
scorers: [{ name: files, by: scorers/FILES.sh }, { name: again, by: scorers/FILES.sh }]
`,
    'given.txt': 'given\n',
  });
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'add', '--all');
  git(project, 'commit', '-qm', 'first');
  project.write('given.txt', 'mine\n');
  const status = git(project, 'status', '--porcelain');
  const { code, outcome, stderr } = await evaluated(project);
  expect(code, stderr).toBe(0);
  const [run] = outcome.runs;
  expect(run?.scores).toMatchObject({
    files: { score: 1, note: 'changed' },
    // Each scorer has its own copy.
    again: { score: 1, note: 'changed' },
  });
  expect(git(project, 'status', '--porcelain')).toBe(status);
  expect(git(project, 'rev-parse', 'HEAD')).toBe(git(project, 'rev-parse', 'main'));
  expect(project.read('given.txt')).toBe('mine\n');
  // What it made is on a branch of its own.
  expect(git(project, 'show', `raymond/${run?.id}/main:made.txt`)).toBe('given\n');
});

test('killed in the middle, the same command continues: no run twice, no step twice', async () => {
  const project = made(EVAL.replace('repetitions: 2', 'repetitions: 1'), {
    ...WORK,
    'w/START.sh': `echo start >>"$STARTS"; until [ -e "$STARTS.open" ]; do sleep 0.02; done; echo "$RAYMOND_INPUT" >essay.txt; echo '<goto>REVIEW</goto>'`,
  });
  const args = ['eval', 'w', '--json', '--max-parallel', '2'];
  const first = project.start(args, { env: starts(project) });
  await eventually('two runs work', () => started(project).length === 2);
  first.child.kill('SIGKILL');
  await first.ended;
  const [victim = ''] = runsIn(project);
  // Its lock is free.
  const { pid } = JSON.parse((await command(project, ['show', victim, '--json'])).stdout);
  process.kill(pid, 'SIGKILL');
  const again = project.start(args, { env: starts(project) });
  await eventually('another process has it', async () => {
    const shown = JSON.parse((await command(project, ['show', victim, '--json'])).stdout);
    return shown.pid !== null && shown.pid !== pid;
  });
  const other = await project.run(args, { env: starts(project) });
  expect([other.code, other.stderr]).toEqual([
    64,
    expect.stringContaining('Another command works'),
  ]);
  writeFileSync(`${starts(project).STARTS}.open`, '');
  const { code, stdout, stderr } = await again.ended;
  expect(code, stderr).toBe(0);
  const outcome: Outcome = JSON.parse(stdout);
  expect(outcome.runs.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
  expect(started(project).filter((line) => line === 'start')).toHaveLength(4);
  expect(started(project).filter((line) => line === 'score')).toHaveLength(4);
});

test('a run that fails has the score for that, nonsense is no score, and a question waits', async () => {
  const project = made(
    `
cases: [{ name: good, input: good }, { name: bad, input: bad }, { name: asks, input: asks }]
scorers: [{ name: nonsense, by: scorers/LINES.sh }, { name: one, by: scorers/ONE.sh, failed: -5 }]
`,
    {
      'w/START.sh': `case "$RAYMOND_INPUT" in good) echo '<result>x</result>';; bad) exit 1;; *) echo '<ask next="START">?</ask>';; esac`,
      'w/scorers/LINES.sh': `echo '<result>about seven</result>'`,
      'w/scorers/ONE.sh': `echo '<result>pass: well done</result>'`,
    },
  );
  const { code, outcome } = await evaluated(project);
  expect(code).toBe(2);
  expect(outcome.runs).toMatchObject([
    {
      case: 'good',
      scores: {
        nonsense: { score: null, note: expect.stringContaining('"about seven" does not begin') },
        one: { score: 1, note: 'well done' },
      },
    },
    {
      case: 'bad',
      status: 'failed',
      failure: expect.stringContaining('1'),
      scores: { nonsense: { score: 0 }, one: { score: -5, note: 'the run is failed' } },
    },
    { case: 'asks', status: 'waiting', scores: {} },
  ]);
});

test('a gate: a baseline, a report for a build server, and an exit code', async () => {
  const project = made(
    `
cases: [{ name: a, input: one, expected: fine }]
scorers: [{ name: right, result: equals }]
repetitions: 6
gate: { baseline: baseline.json, least: { right: 0.5 } }
`,
  );
  const missing = await project.run(['eval', 'w'], { env: starts(project) });
  expect([missing.code, started(project)]).toEqual([64, []]);
  expect(missing.stderr).toMatch(/baseline\.json, which does not exist.*--save-baseline/s);
  const saved = await project.run(['eval', 'w', '--save-baseline'], { env: starts(project) });
  expect(saved.code, saved.stderr).toBe(0);
  expect(statSync(project.path('w/baseline.json')).mode & 0o777).toBe(0o600);
  const same = await project.run(['eval', 'w', '--junit', 'report.xml'], { env: starts(project) });
  expect([same.code, started(project).length], same.stderr).toEqual([0, 6]);
  expect(same.stdout).toContain(
    'passed  right is not worse than the baseline: equal in all 6 pairs',
  );
  expect(project.read('report.xml')).toContain('tests="8" failures="0"');

  project.write('w/REVIEW.sh', `echo worse >>essay.txt; echo '<goto>END</goto>'`);
  const worse = await project.run(['eval', 'w', '--junit', 'report.xml'], { env: starts(project) });
  expect(worse.code).toBe(1);
  expect(worse.stdout).toContain('FAILED  right is not worse than the baseline: worse by 1');
  expect(worse.stdout).toContain('FAILED  right is at least 0.5: the mean is 0');
  expect(project.read('report.xml')).toContain('failures="2"');
});

test('a case from a run keeps comments, and begins with the files of the run', async () => {
  const project = newProject(WORK);
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'add', '--all');
  git(project, 'commit', '-qm', 'first');
  const run = ['w', '--workflow-id', 'r', '--input', 'a: #b', '--set', 'tone=dry', '--quiet'];
  expect(
    (await command(project, [...run, '--checkpoints', 'steps'], { env: starts(project) })).code,
  ).toBe(0);
  const before = bytesOfRun({ folder: project.folder, run: 'r' });
  const added = await command(project, ['eval', 'w', '--add-case', 'r']);
  expect(added.stdout).toContain('Added the case r to');
  const commit = git(project, 'rev-parse', 'HEAD').trim();
  project.write('w/eval.yaml', `# Ours.\n${project.read('w/eval.yaml')}`);
  const more = await command(project, ['eval', 'w', '--add-case', 'r', '--name', 'again']);
  expect(more.code, more.stderr).toBe(0);
  expect(project.read('w/eval.yaml')).toMatch(
    new RegExp(
      `^# Ours\\.[\\s\\S]*- name: r\\n {4}input: "?'?a: #b'?"?\\n {4}set:\\n {6}tone: dry\\n {4}commit: ${commit}\\n {4}expected: fine\\n {2}- name: again`,
    ),
  );
  const twice = await command(project, ['eval', 'w', '--add-case', 'r']);
  expect(twice.stderr).toContain('a name that no other case has');
  const after = bytesOfRun({ folder: project.folder, run: 'r' });
  const own = ([path]: [string, string]) => !path.endsWith('/w/eval.yaml');
  expect(Object.entries(after).filter(own)).toEqual(Object.entries(before).filter(own));
  // Both begin with the same.
  expect((await command(project, ['eval', 'w'])).stderr).toContain('begin with the same');
});

const HOSTILE = {
  'a path out of the folder': [
    'cases: [{ name: a }]\nvariants: [{ name: v, with: ../../x.md }]',
    '2:29',
  ],
  'an absolute path': ['cases: [{ name: a }]\nscorers: [{ name: v, by: /etc/passwd }]', '2:26'],
  'a file out of the folder': ['cases: [{ name: a, files: { ../x: y } }]', '1:27'],
  'a variable of programs': ['cases: [{ name: a, set: { LD_PRELOAD: x } }]', '1:25'],
  'a commit that is an option': ['cases: [{ name: a, commit: --exec=x }]', '1:28'],
  'a billion repetitions': ['cases: [{ name: a }]\nrepetitions: 1000000000', '2:14'],
  'too many runs': [
    'cases: [{ name: a }, { name: b }]\nvariants: [{ name: v, model: x }, { name: w, model: y }, { name: x, model: z }, { name: y, model: q }, { name: z, model: r }]\nrepetitions: 1000',
    '3:14',
  ],
  'a name of several lines': ['cases: [{ name: "a\\nb" }]', '1:17'],
  'escape codes': ['cases: [{ name: "\\e[2J" }]', '1:17'],
  'a name twice': ['cases: [{ name: a }, { name: a }]', '1:30'],
  'an unknown key': ['cases: [{ name: a, run: rm }]', '1:20'],
  'no cases': ['cases: []', '1:8'],
  'a bomb': [
    `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`).join('\n')}\ncases: *i`,
    'aliases',
  ],
  'a budget of nothing': ['cases: [{ name: a }]\nbudget: 0', '2:9'],
  'a number that is none': ['cases: [{ name: a }]\nbudget: .inf', '2:9'],
  'an unknown scorer in the gate': [
    'cases: [{ name: a }]\nscorers: [{ name: s, by: s.sh }]\ngate: { least: { t: 1 } }',
    '3:16',
  ],
} as const;

test.each(Object.entries(HOSTILE))('it refuses a file with %s', async (_, [text, place]) => {
  const project = made(text);
  const { code, stderr } = await command(project, ['eval', 'w'], { env: starts(project) });
  expect([code, stderr]).toEqual([64, expect.stringContaining(place)]);
  expect(stderr).toMatch(/eval\.yaml/);
  expect(readdirSync(project.folder)).not.toContain('.raymond');
  expect(started(project)).toEqual([]);
});

test('links out of the folder, unknown states and equal variants are refused', async () => {
  const project = made('cases: [{ name: a }]\nscorers: [{ name: s, by: scorers/OUT.sh }]');
  project.write('../OUT.sh', `echo '<result>1</result>'`);
  symlinkSync(project.path('../OUT.sh'), project.path('w/scorers/OUT.sh'));
  const refused = async (text?: string) => {
    if (text !== undefined) project.write('w/eval.yaml', text);
    const { code, stderr } = await command(project, ['eval', 'w'], { env: starts(project) });
    expect(code).not.toBe(0);
    expect(started(project)).toEqual([]);
    return stderr;
  };
  expect(await refused()).toContain('is a link that leaves');
  project.write('w/strict/OTHER.sh', 'x');
  expect(
    await refused('cases: [{ name: a }]\nvariants: [{ name: v, with: strict/OTHER.sh }]'),
  ).toContain('no state OTHER');
  project.write('w/same/x', '');
  expect(await refused('cases: [{ name: a }]\nvariants: [{ name: v }]')).toContain(
    'The variant v changes nothing',
  );
  expect(await refused('cases: [{ name: a, commit: main }]')).toContain(
    'cannot begin at the commit',
  );
});

test('a file cannot raise the budget, and a costly eval needs consent', async () => {
  const project = made('cases: [{ name: a, input: one }]\nbudget: 500');
  const { stderr } = await project.run(['eval', 'w'], { env: starts(project) });
  expect(stderr).toContain(
    'asks for a budget of $500.00, and has $10.00. To allow it: --budget 500',
  );
  project.write('w/END.sh', `echo '<result>new</result>'`);
  mkdirSync(project.userConfig, { recursive: true });
  writeFileSync(`${project.userConfig}/config.toml`, '[raymond]\nconfirm_above = 1\n');
  const asked = await command(project, ['eval', 'w'], { env: starts(project) });
  expect([asked.code, asked.stderr]).toEqual([64, expect.stringContaining('--budget 1')]);
  expect(started(project)).toHaveLength(1);
  const { outcome } = await evaluated(project, '--budget', '1');
  const [run] = outcome.runs;
  const journal = project.journal(run?.id ?? '')[0];
  expect(journal).toMatchObject({ settings: { budgetUsd: 0.25 } });
});

test('a run that was killed before its first event begins again', async () => {
  const project = made('cases: [{ name: a, input: one }]');
  const { outcome } = await evaluated(project);
  const id = outcome.runs[0]?.id ?? '';
  expect((await command(project, ['prune', id])).code).toBe(0);
  writeFileSync(project.path(`.raymond/state/${id}.jsonl`), '', { mode: 0o600 });
  expect((await evaluated(project)).outcome.runs).toMatchObject([{ id, status: 'completed' }]);
});

test('a run of somebody else under the same id counts for nothing', async () => {
  const project = made('cases: [{ name: a, input: one }]');
  const { outcome } = await evaluated(project);
  const id = outcome.runs[0]?.id ?? '';
  const stranger = { ...starts(project), XDG_STATE_HOME: project.path('../.stranger') };
  const foreign = await project.run(['eval', 'w', '--json'], { env: stranger });
  expect(foreign.code).toBe(1);
  expect(foreign.stderr).toContain(`${id} exists, but you did not start it here`);
  expect(readFileSync(project.path('mine.txt'), 'utf8')).toBe('mine');
});
