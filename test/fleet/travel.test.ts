// A run that moves between two workers which share nothing but the database and a git remote.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import type { Started } from '../raymond.ts';
import { Fleet } from './fleet.ts';

const FILES = {
  'flow/START.sh': `pwd >>places; echo one >>words; git add -A
git -c user.name=A -c user.email=a@example.org commit -qm one
echo half >uncommitted; echo '<ask next="SECOND">Go on?</ask>'`,
  'flow/SECOND.sh': `pwd >>places; cat "$(dirname "$0")/helper/text" >>words
git log --format=%s >>words; echo '<ask next="THIRD">And on?</ask>'`,
  'flow/THIRD.sh': `pwd >>places; echo "<result>$(sort -u places | wc -l) $(cat words uncommitted | tr '\\n' ' ')</result>"`,
  'flow/helper/text': 'helped\n',
};

test('files and workflows of a run follow it from worker to worker and back', async () => {
  const fleet = await newFleet();
  const { folder } = fleet.project;
  const env = { RAYMOND_DATABASE: fleet.url };
  const begun = await fleet.project.run(['flow', '--remote', 'origin', '--detach'], { env });
  const run = begun.stdout.trim();
  expect(begun).toMatchObject({ code: 0, stdout: expect.stringMatching(/^flow-[0-9a-f]{8}\n$/) });
  // On no other machine, the directory in which the run began has any files.
  renameSync(folder, `${folder} away`);
  mkdirSync(folder);
  await onWorker(fleet, 'left', async () => asks(fleet, run));
  await answer(fleet, run);
  await onWorker(fleet, 'right', async () => asks(fleet, run, 2));
  await answer(fleet, run);
  const ended = await onWorker(fleet, 'left', () => fleet.ended(run));
  expect(ended.result).toBe('2 one helped one first half ');
  expect(readdirSync(folder)).toEqual([]);
  const events = JSON.stringify(await fleet.events(run));
  expect(events).not.toContain('remote.git');
  expect(ended.agents.size).toBe(0);
});

test('a worker that died in a step leaves no trace in the files', async () => {
  const fleet = await newFleet({
    'flow/START.sh': `echo from $RAYMOND_ATTEMPT >>words
if [ "$RAYMOND_ATTEMPT" = 1 ]; then touch "$MARK"; sleep 600; fi; echo '<goto>LAST</goto>'`,
    'flow/LAST.sh': `echo "<result>$(cat words)</result>"`,
  });
  const mark = join(fleet.project.folder, '..', 'mark');
  const run = await fleet.begin('flow', undefined, 'origin');
  const first = fleet.worker('left', ['--lease', '2'], { MARK: mark });
  await eventually('the step works', () => existsSync(mark));
  first.child.kill('SIGKILL');
  const ended = await onWorker(fleet, 'right', () => fleet.ended(run), ['--lease', '2']);
  expect(ended.result).toBe('from 2');
});

test('notes follow a run from worker to worker, and a worker that dies takes only its own with it', async () => {
  const fleet = await newFleet({
    'flow/workflow.yaml':
      'states:\n  START.sh: { notes: write }\n  LAST.sh: { notes: write }\n  READ.sh: { notes: read }\n',
    'flow/START.sh': `echo first >"$RAYMOND_NOTES_FOLDER/a.md"; echo '<goto>LAST</goto>'`,
    'flow/LAST.sh': `cd "$RAYMOND_NOTES_FOLDER"; echo "$RAYMOND_ATTEMPT" >>a.md
if [ "$RAYMOND_ATTEMPT" = 1 ]; then touch "$MARK"; sleep 600; fi; echo '<goto>READ</goto>'`,
    'flow/READ.sh': `echo "<result>$(tr '\\n' ' ' <"$RAYMOND_NOTES_FOLDER/a.md")</result>"`,
  });
  const mark = join(fleet.project.folder, '..', 'mark');
  const run = await fleet.begin('flow', undefined, 'origin');
  const first = fleet.worker('left', ['--lease', '2'], { MARK: mark });
  await eventually('the second step works', () => existsSync(mark));
  first.child.kill('SIGKILL');
  const ended = await onWorker(fleet, 'right', () => fleet.ended(run), ['--lease', '2']);
  expect(ended.result).toBe('first 2 ');
  expect([...ended.notes].map(([path, { agent, step }]) => `${path} ${agent}:${step}`)).toEqual([
    'a.md main:3',
  ]);
});

async function newFleet(files: Readonly<Record<string, string>> = FILES): Promise<Fleet> {
  const fleet = await Fleet.open(await newDatabase(), files);
  onTestFinished(() => fleet.dispose());
  const { folder } = fleet.project;
  const bare = join(folder, '..', 'remote.git');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init', '-q', '--bare', bare);
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', bare);
  git('add', '-A');
  git('-c', 'user.name=U', '-c', 'user.email=u@example.org', 'commit', '-qm', 'first');
  return fleet;
}

async function onWorker<T>(
  fleet: Fleet,
  name: string,
  act: (worker: Started) => Promise<T>,
  args: readonly string[] = [],
): Promise<T> {
  const worker = fleet.worker(name, args);
  try {
    return await act(worker);
  } catch (error) {
    throw new Error(`${worker.stderr()}\n${error}`);
  } finally {
    worker.child.kill('SIGTERM');
    await worker.ended;
  }
}

async function asks(fleet: Fleet, run: string, times = 1): Promise<void> {
  await eventually(`${run} asks`, async () => {
    const events = await fleet.events(run);
    return events.filter(({ type }) => type === 'agent-asked').length === times;
  });
}

async function answer(fleet: Fleet, run: string): Promise<void> {
  const events = await fleet.events(run);
  const asked = events.findLast((event) => event.type === 'agent-asked');
  if (asked?.type !== 'agent-asked') throw new Error('There is no question.');
  const { agent, at: askedAt } = asked;
  await fleet.store.mailbox(run).post({ kind: 'answer', agent, askedAt, text: 'yes' });
}
