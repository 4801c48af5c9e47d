/** Real processes of `raymond up`: killed at random moments, shut down, and in folders that are no projects. */
import { existsSync, renameSync, symlinkSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { isLong } from '../long.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { Project, type Started } from '../raymond.ts';
import { signalProcessesWith } from '../survivors.ts';
import { GAMES, tortureTriggers } from './torture.ts';

const KILLS = isLong ? 60 : 3;

test.each(Object.entries(GAMES))(
  '%s, killed at random moments: every occasion has one run or a reason',
  { timeout: 240_000 },
  async (_name, game) => {
    const database = game.workers === undefined ? undefined : await newDatabase();
    const wanted = { seed: 27, kills: KILLS, occasions: isLong ? 20 : 2 };
    const outcomes = await tortureTriggers({ ...game, ...wanted, ...(database && { database }) });
    expect(outcomes).toMatchObject({ kills: KILLS, 'files: completed': wanted.occasions });
  },
);

function projectOf(flows: Readonly<Record<string, string>>): Project {
  const project = new Project({}, 'pro ject ü');
  onTestFinished(() => project.dispose());
  for (const [name, folder] of Object.entries(flows)) {
    project.write(`${name}/workflow.yaml`, `triggers: [{ files: "${folder}/*.md" }]\n`);
    project.write(`${name}/START.sh`, START.replace('LOG', project.path('log')));
  }
  return project;
}

const START = `echo "$RAYMOND_WORKFLOW_ID $RAYMOND_ATTEMPT" >> 'LOG'
until [ -e go ]; do sleep 0.05; done
echo "<result>$RAYMOND_TRIGGER</result>"
`;

async function trusted(project: Project, ...names: readonly string[]): Promise<void> {
  for (const name of names) expect((await project.run(['trust', name, '--yes'])).code).toBe(0);
}

async function ended(up: Started, signal: NodeJS.Signals = 'SIGTERM'): Promise<string> {
  up.child.kill(signal);
  const { code, stderr } = await up.ended;
  expect(code).toBe(0);
  return stderr;
}

async function listed(project: Project): Promise<readonly { id: string; condition: string }[]> {
  const { stdout } = await project.run(['list', '--json']);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

test('two at once start each file once, and show what started a run', async () => {
  const project = projectOf({ intake: 'inbox' });
  await trusted(project, 'intake');
  project.write('go', '');
  const both = [project.start(['up']), project.start(['up'])];
  for (const up of both) await eventually('it keeps it', () => up.stderr().includes('Keeps 1 '));
  project.write('inbox/ä b.md', 'x');
  const done = project.path('inbox', 'done', 'ä b.md');
  await eventually('the file is done', () => existsSync(done));
  const triggers = await project.run(['triggers', '--json']);
  expect(JSON.parse(triggers.stdout)).toMatchObject({
    ...{ workflow: 'intake', approved: true, waiting: 0, last: { outcome: 'over' } },
  });
  const shown = await project.run(['show']);
  expect(shown.stdout).toContain('trigger   files inbox/*.md, file inbox/ä b.md');
  for (const up of both) await ended(up, 'SIGINT');
  expect(project.lines('log')).toHaveLength(1);
});

test('a run that a shutdown has stopped continues, and one that a person stopped does not', async () => {
  const project = projectOf({ night: 'in', day: 'on' });
  await trusted(project, 'night', 'day');
  const first = project.start(['up']);
  project.write('in/a.md', '');
  project.write('on/b.md', '');
  await eventually('both work', () => project.lines('log').length === 2);
  const [day = ''] = project.lines('log').flatMap((line) => /^day-\S+/.exec(line) ?? []);
  const [night = ''] = project.lines('log').flatMap((line) => /^night-\S+/.exec(line) ?? []);
  expect((await project.run(['stop', day, '--now'])).code).toBe(0);
  await eventually('its end is known', () => first.stderr().includes(`${day} is over`));

  // As at the end of systemd: every process gets it, and nobody waits for their order.
  const all = `XDG_STATE_HOME=${project.environment.XDG_STATE_HOME}\0`;
  await eventually(
    'all processes have ended',
    () => signalProcessesWith(all, 'SIGTERM') === 0,
    200,
  );
  expect((await first.ended).code).toBe(0);
  const conditions = new Map((await listed(project)).map(({ id, condition }) => [id, condition]));
  expect(conditions).toEqual(
    new Map([
      [day, 'interrupted'],
      [night, 'stopped: shutdown'],
    ]),
  );
  expect((await project.run(['show', night])).stdout).toContain('stopped: shutdown');

  project.write('go', '');
  const second = project.start(['up']);
  await eventually('it is completed', () => existsSync(project.path('in', 'done', 'a.md')));
  const said = await ended(second);
  expect(said).toContain(`Resumed ${night}, which a shutdown had stopped`);
  expect(said).not.toContain(day);
  expect(project.lines('log')).toEqual(expect.arrayContaining([`${night} 1`, `${night} 2`]));
  expect(project.lines('log')).toHaveLength(3);
});

test('triggers that are not approved, or have changed, are named and start nothing', async () => {
  const project = projectOf({ intake: 'inbox' });
  await trusted(project, 'intake');
  const changed = 'triggers: [{ files: "inbox/*.md", overlap: replace }]\n';
  project.write('intake/workflow.yaml', changed);
  const up = project.start(['up']);
  await eventually('it refuses', () => up.stderr().includes('Keeps 0 triggers'));
  expect(up.stderr()).toContain('raymond trust intake');
  // It notices the approval of what it has already read when the workflow is written again.
  await trusted(project, 'intake');
  project.write('intake/workflow.yaml', changed);
  await eventually('it keeps the trigger', () => up.stderr().includes('inbox/*.md): kept'));
  await ended(up);
});

test.each<[what: string, path: string, words: string]>([
  [
    'does not exist',
    'no where',
    "There is no folder /project/no where.\n         Check the path, or create it: mkdir -p '/project/no where'",
  ],
  ['is below a file', 'file/x', '/project/file/x is not a folder.'],
  [
    'is a file',
    'file',
    '/project/file is not a folder.\n         Name the folder of a project, such as the one that contains this file.',
  ],
  ['cannot be read', 'loop', 'Raymond cannot read the folder /project/loop: '],
])('a folder that %s is refused, also by --install', async (_what, path, words) => {
  const project = new Project({ file: '' });
  onTestFinished(() => project.dispose());
  symlinkSync('loop', project.path('loop'));
  for (const more of [[], ['--install']]) {
    const { code, stderr } = await project.run(['up', project.folder, path, ...more]);
    expect([code, stderr.replaceAll(project.folder, '/project')]).toEqual([
      64,
      expect.stringContaining(words),
    ]);
  }
  expect(existsSync(project.path('..', '.home', 'config', 'systemd'))).toBe(false);
});

test('a project that is named twice, without triggers, or contains another one', async () => {
  const project = projectOf({ intake: 'inbox', 'inner/flow': 'inbox' });
  await trusted(project, 'intake', 'inner/flow');
  project.write('inner/.git/HEAD', 'ref: refs/heads/main\n');
  project.write('empty/.git/HEAD', 'ref: refs/heads/main\n');
  symlinkSync('.', project.path('link'));
  const up = project.start(['up', '.', 'intake', 'link', 'inner', 'empty']);
  await eventually('it keeps them', () => up.stderr().includes('Keeps 2 triggers'));
  const said = (await ended(up)).replaceAll(project.folder, '/project');
  expect(said).toContain('/project/intake is in the project /project, which is kept already');
  expect(said).toContain('/project/link is in the project /project, which is kept already');
  expect(said).toContain('/project/empty has no approved triggers yet');
  expect(said).toContain(
    'The triggers of inner/flow belong to the project /project/inner. To keep them: raymond up',
  );
  expect(said.match(/\(files inbox\/\*\.md\): kept/g)).toHaveLength(2);
});

test('a trigger that cannot be read is named, and its workflow cannot be approved', async () => {
  const project = projectOf({ intake: 'inbox' });
  await trusted(project, 'intake');
  const manifest = 'triggers: [{ files: "inbox/*.md" }, { schedule: "0 0 30 2 *" }]\n';
  project.write('intake/workflow.yaml', manifest);
  const trust = await project.run(['trust', 'intake', '--yes']);
  expect(trust.code).toBe(64);
  expect(trust.stderr).toContain('The schedule "0 0 30 2 *" never comes');
  for (const text of [manifest, 'triggers: [']) {
    project.write('intake/workflow.yaml', text);
    const { code, stderr } = await project.run(['triggers']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('raymond lint intake')]);
  }
  const up = project.start(['up']);
  await eventually('it is ready', () => up.stderr().includes('Keeps 0 triggers'));
  expect(await ended(up)).toContain('intake has errors, so triggers may be missing here');
});

test('a project that disappears while it is kept is named, and the other one continues', async () => {
  const project = projectOf({ 'one/flow': 'inbox', 'two/flow': 'inbox' });
  for (const name of ['one', 'two']) {
    project.write(`${name}/.git/HEAD`, 'ref: refs/heads/main\n');
    const cwd = project.path(name);
    expect((await project.run(['trust', 'flow', '--yes'], { cwd })).code).toBe(0);
    project.write(`${name}/go`, '');
  }
  const up = project.start(['up', 'one', 'two']);
  await eventually('it keeps both', () => up.stderr().includes('Keeps 2 triggers'));
  renameSync(project.path('two'), project.path('away'));
  await eventually('it is missed', () => up.stderr().includes('There is no folder'));
  project.write('one/inbox/a.md', '');
  const done = (name: string) => existsSync(project.path(name, 'inbox', 'done', 'a.md'));
  await eventually('the other one works', () => done('one'));
  project.write('away/inbox/a.md', '');
  renameSync(project.path('away'), project.path('two'));
  await eventually('it works again', () => done('two'));
  const said = (await ended(up)).replaceAll(project.folder, '/project');
  expect(said).toContain('/project/two: There is no folder /project/two any more.');
  expect(said).toContain('/project/two: flow (files inbox/*.md): no longer kept');
  expect(said).toMatch(/\/project\/one: flow \(files inbox\/\*\.md\): started/);
});
