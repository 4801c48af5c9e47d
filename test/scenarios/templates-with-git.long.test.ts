/** Templates as they are, with real git. Tests of workflows cannot make repositories. */
import { expect, test } from 'vitest';
import { commitAll, git, templateProject } from './template-project.ts';

const RELEASE = ['--input', '1.1.0', '--workflow-id', 'release', '--set', 'test_command=true'];
const PUBLISH = ['--set', 'release_command=echo "$version" >>published.txt'];

/** Writes notes from the commits that the template has listed. */
const NOTES = `folder=$(sed -n 's,.*\`\\([^\`]*\\)/notes.md\`.*,\\1,p' | head -n 1)
{ echo 'News:'; cat "$folder/commits.txt"; } >"$folder/notes.md"
echo '<goto>GATE</goto>'`;

async function release() {
  const made = await templateProject('release-approval', { 'a.txt': 'one\n' }, NOTES);
  git(made.project, 'tag', 'v1.0.0');
  made.project.write('a.txt', 'two\n');
  commitAll(made.project, 'Write two');
  return made;
}

test('release-approval releases after a yes, with the notes that the person has read', async () => {
  const { project, raymond } = await release();
  const asked = await raymond('flow', ...RELEASE, ...PUBLISH, '--no-wait');
  expect(asked).toMatchObject({ code: 2, stdout: '' });
  const { stdout } = await raymond('show', 'release');
  expect(stdout).toContain('Release version 1.1.0?');
  expect(stdout).toContain('- Write two');
  expect(git(project, 'tag')).toBe('v1.0.0');

  expect((await raymond('answer', 'release', 'Yes.')).code).toBe(0);
  expect(await raymond('resume', 'release')).toMatchObject({
    code: 0,
    stdout: 'Released 1.1.0.\n',
  });
  expect(git(project, 'tag', '--list', '--format=%(refname:short) %(contents)', 'v1.1.0')).toBe(
    'v1.1.0 News:\n- Write two',
  );
  expect(project.read('published.txt')).toBe('1.1.0\n');
});

test.each([
  ['a version that is none', ['--input', 'soon; rm -rf .'], 'the version must look like 1.4.0.'],
  ['a version that exists', ['--input', 'v1.0.0'], 'v1.0.0 exists already.'],
  ['failing tests', ['--input', '1.1.0', '--set', 'test_command=false'], 'the tests fail.'],
])('release-approval asks no person about %s', async (_, options, reason) => {
  const { project, raymond } = await release();
  const ended = await raymond('flow', '--set', 'test_command=true', ...PUBLISH, ...options);
  expect(ended).toMatchObject({ code: 0, stdout: `Not released: ${reason}\n` });
  expect(git(project, 'tag')).toBe('v1.0.0');
  expect(git(project, 'status', '--porcelain', '-uno')).toBe('');
});

test('review-by-three shows the change to three models, and two of them decide', async () => {
  const agent = `change=$(sed -n 's,.*change in \`\\([^\`]*\\)\`.*,\\1,p')
grep -q '^+two' "$change" && echo '<result>APPROVED</result>' || echo '<result>no change</result>'`;
  const { project, claude, raymond } = await templateProject(
    'review-by-three',
    { 'a.txt': 'one\n' },
    agent,
  );
  expect((await raymond('flow')).stdout).toBe('There is no change since main.\n');
  git(project, 'switch', '-q', '-c', 'feature');
  project.write('a.txt', 'two\n');
  commitAll(project, 'Write two');
  expect(await raymond('flow', '--workflow-id', 'review')).toMatchObject({
    code: 0,
    stdout: 'APPROVED\n',
  });
  const joined = project
    .journal('review')
    .flatMap((event) => (event.type === 'join-reported' ? [event] : []));
  expect(joined).toMatchObject([{ why: 'reached', state: 'VERDICT.sh' }]);
  const results = joined[0]?.workers.filter(({ status }) => status === 'ended') ?? [];
  expect(results.length).toBeGreaterThanOrEqual(2);
  const models = claude.argvs().map((argv) => argv[argv.indexOf('--model') + 1]);
  expect(['opus', 'sonnet', 'haiku']).toEqual(expect.arrayContaining(models));
  expect(new Set(models).size).toBeGreaterThanOrEqual(2);
});

test('nightly-maintenance repairs on a separate branch, and costs nothing in a quiet night', async () => {
  const agent = `echo fixed >fixed.txt; git add fixed.txt; git commit -q -m 'Add fixed.txt'
echo '<result>fixed.txt was missing</result>'`;
  const { project, claude, raymond } = await templateProject(
    'nightly-maintenance',
    { 'chores.txt': '# Every night\ntrue\ntest -e fixed.txt\n' },
    agent,
  );
  const now = ['--set', 'quiet_minutes=0'];
  expect(await raymond('flow', ...now)).toMatchObject({
    code: 0,
    stdout: 'repair: fixed.txt was missing\nok: true\nok: test -e fixed.txt\n',
  });
  expect(claude.entries('prompt')).toHaveLength(1);
  expect(git(project, 'branch', '--show-current')).toMatch(/^nightly-\d{4}-\d\d-\d\d$/);
  expect(git(project, 'log', '--format=%s', 'main..HEAD')).toBe('Add fixed.txt');

  expect((await raymond('flow', ...now)).stdout).toBe('ok: true\nok: test -e fixed.txt\n');
  expect(claude.entries('prompt')).toHaveLength(1);

  // The last commit is too new, so the run looks as often as the manifest allows.
  const busy = await raymond('flow', '--set', 'pause=0', '--workflow-id', 'busy');
  expect(busy.code).toBe(1);
  expect(busy.stderr).toContain('main has entered START.sh 72 times, which is the limit');
});
