// Forks that two machines carry out, of which one dies. Names of folders have spaces and umlauts.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import type { Run } from '../../src/model/run.ts';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { Fleet } from './fleet.ts';

const AS = '-c user.name=A -c user.email=a@example.org';

/** The worker `two` lasts until its machine dies. Its second attempt finds what the first one left. */
const WORK = `mkdir -p "Änderung $item"; echo "$item $RAYMOND_ATTEMPT" >>"Änderung $item/ö.txt"
if [ "$item" = two ] && [ "$RAYMOND_ATTEMPT" = 1 ]; then echo $MACHINE >"$MARK"; sleep 600; fi
`;
const START = (fork: string) => `for item in one two three; do ${fork}; done
echo '<join>MERGE</join>'`;

/**
 * Each worker commits on its own branch, and the parent merges the branches. A machine executes two
 * scripts, so both machines have one.
 */
const WITH_WORKTREES = {
  'Abläufe x/START.sh': START(`echo "<fork worktree='$item' item='$item'>WORK</fork>"`),
  'Abläufe x/WORK.sh': `${WORK}while [ ! -e "$MARK" ]; do sleep 0.05; done; git add -A; git ${AS} commit -qm "$item"
echo "<result>$item</result>"`,
  'Abläufe x/MERGE.sh': `for item in one two three; do
  git ${AS} merge -q --no-edit "raymond/$RAYMOND_WORKFLOW_ID/$item" >&2 || exit 1
done
echo "<result>$(cat Änderung*/ö.txt | tr '\\n' ' ')</result>"`,
};

/** All workers share the working tree, which follows them from machine to machine. */
const WITH_REMOTE = {
  'Abläufe x/START.sh': START(`echo "<fork item='$item'>WORK</fork>"`),
  'Abläufe x/WORK.sh': `${WORK}git add "Änderung $item" && git ${AS} commit -qm "$item" -- "Änderung $item"
echo "<result>$item</result>"`,
  'Abläufe x/MERGE.sh': `git status --short >&2
echo "<result>$(cat Änderung*/ö.txt | tr '\\n' ' ')</result>"`,
};

test.concurrent('workers in worktrees on two machines: the join sees the files of all branches', async (context) => {
  const { fleet, env } = await newFleet(context, WITH_WORKTREES);
  await fleet.project.run(['Abläufe x', ...BEGIN, '--shared-directory'], { env });
  expect((await endAfterDeath(fleet)).result).toBe('one 1 three 1 two 1 two 2 ');
  const reported = (await fleet.events('r')).find(({ type }) => type === 'join-reported');
  expect(reported).toMatchObject({ workers: Array(3).fill({ status: 'ended' }) });
});

test.concurrent('workers in clones of a remote on two machines: the join sees the files of all', async (context) => {
  const { fleet, env } = await newFleet(context, WITH_REMOTE);
  await fleet.project.run(['Abläufe x', ...BEGIN, '--remote', 'origin'], { env });
  // A snapshot of another worker may contain what the first attempt had done.
  expect((await endAfterDeath(fleet)).result).toMatch(/^one 1 three 1 (two 1 )?two 2 $/);
  expect(existsSync(fleet.project.path('Änderung one'))).toBe(false);
});

const BEGIN = ['--workflow-id', 'r', '--detach'];

/**
 * The machine dies that works for `two`, when it works for no other agent. In clones, only one machine at a
 * time works in a directory, so steps on the other one may wait for its death.
 */
async function endAfterDeath(fleet: Fleet): Promise<Run> {
  const mark = join(fleet.project.folder, '..', 'mark');
  const machine = (name: string) =>
    fleet.worker(name, ['--scripts', '2'], { MARK: mark, MACHINE: name });
  const machines = { left: machine('left'), right: machine('right') };
  const owner = () => (existsSync(mark) ? readFileSync(mark, 'utf8').trim() : '');
  await eventually('two works, and one and three are over or elsewhere', async () => {
    const events = await fleet.events('r');
    const isApart = (agent: string) =>
      events.some(
        (event) =>
          'agent' in event &&
          event.agent === agent &&
          (event.type === 'agent-ended' ||
            (event.type === 'step-taken' && event.worker !== owner())),
      );
    return owner() !== '' && isApart('main_work1') && isApart('main_work3');
  });
  const victim = owner() === 'left' ? 'left' : 'right';
  machines[victim].child.kill('SIGKILL');
  await machines[victim].ended;
  await fleet.endLease(victim);
  return fleet.ended('r').catch((error) => {
    throw new Error(`${machines.left.stderr()}${machines.right.stderr()}\n${error}`);
  });
}

async function newFleet(
  { onTestFinished }: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<{ readonly fleet: Fleet; readonly env: Record<string, string> }> {
  const fleet = await Fleet.open(await newDatabase(onTestFinished), files, 'Größe und Maß');
  onTestFinished(() => fleet.dispose());
  const { folder } = fleet.project;
  const remote = join(folder, '..', 'Fernes Lager ü.git');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init', '-q', '--bare', remote);
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', remote);
  git('add', '-A');
  git('-c', 'user.name=U', '-c', 'user.email=u@example.org', 'commit', '-qm', 'first');
  return { fleet, env: { RAYMOND_DATABASE: fleet.url } };
}
