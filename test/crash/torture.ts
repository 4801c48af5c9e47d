/**
 * Kills Raymond with -9 at random moments, resumes it until the run ends, and compares the result. Or
 * kills the wrappers and witnesses of its steps, or the launchers, or fills the disk for their records.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { RunEvent, WorkerStatus } from '../../src/model/event.ts';
import { Project, type Started } from '../raymond.ts';
import { killHard, killSteps, launchers, runningSteps, survivors } from '../survivors.ts';
import { JOIN_WORKFLOW, TORTURE_WORKFLOW } from './torture-workflow.ts';
import { type Ways, waysOf } from './ways.ts';

/** A workflow to torture, by the name of its folder. */
export const GAMES = { torture: TORTURE_WORKFLOW, joins: JOIN_WORKFLOW } as const;
type Game = keyof typeof GAMES;

export interface Torture {
  readonly game?: Game;
  readonly seed: number;
  /** The number of kills after which the run continues undisturbed. */
  readonly kills: number;
  readonly victims: Victims;
}

export const VICTIMS = [
  'raymond',
  'raymond and its steps',
  'raymond and its launchers',
  'launchers',
  'wrappers',
  'records',
] as const;
type Victims = (typeof VICTIMS)[number];

/** The end of a script is then unknown, so it is repeated. */
const isLossy = (victims: Victims) => victims === 'raymond and its steps' || victims === 'wrappers';
const killsRaymond = (victims: Victims) => victims.startsWith('raymond');

/** Everything that must not depend on kills. */
export interface Ending {
  readonly stdout: string;
  readonly agents: Ways;
  /** The notes of the steps, without the number of the attempt. */
  readonly notes: readonly string[];
}

export async function undisturbedEnding(game: Game = 'torture'): Promise<Ending> {
  return inProject(game, 'undisturbed', async (project) => {
    const { code, stdout, stderr } = await project.run(startArgs(game, project, '0'));
    assert.equal(code, 0, stderr);
    return endingOf(project, stdout);
  });
}

/** Gives the number of kills by what Raymond was doing. Throws an error with the seed if anything differs. */
export async function torture(
  { game = 'torture', seed, kills, victims }: Torture,
  expected: Ending,
): Promise<Readonly<Record<string, number>>> {
  return inProject(game, `${game}, seed ${seed}, killing ${victims}`, async (project) => {
    const random = randomFrom(seed);
    const counts: Record<string, number> = {};
    let life = project.start(lifeArgs(game, project, victims));
    for (let harmed = 0, lives = 1; ; lives++) {
      assert.ok(lives < MOST_LIVES, 'the run does not end');
      const moment = harmed < kills ? pick(random, MOMENTS) : undefined;
      if (moment && (await moment.come(project, random, life))) {
        if (harm(project, life, random, victims)) {
          harmed++;
          counts[moment.name] = (counts[moment.name] ?? 0) + 1;
        }
        if (!killsRaymond(victims)) continue;
      }
      const { code, signal, stdout, stderr } = await life.ended;
      const isKilled = signal === 'SIGKILL';
      if (isKilled && victims === 'raymond and its steps') killSteps(project.folder);
      // The agent of a script that was lost twice fails, and a person resumes the run.
      if (!isKilled && !(isLossy(victims) && code === 1 && isLost(project))) {
        assert.equal(code, 0, stderr);
        compare(endingOf(project, stdout), expected, victims);
        return counts;
      }
      life = project.start(lifeArgs(game, project, victims));
    }
  });
}

/** Whether a process or file was found to harm. */
function harm(project: Project, life: Started, random: Random, victims: Victims): boolean {
  const shells = victims.endsWith('launchers') ? launchers(project.folder) : [];
  for (const pid of shells) killHard(pid);
  if (killsRaymond(victims)) return life.child.kill('SIGKILL');
  if (victims === 'launchers') return shells.length > 0;
  const step = pick(random, runningSteps(project.folder));
  if (!step) return false;
  if (victims === 'wrappers') killHard(step.pid);
  else fillDiskFor(join(step.folder, 'launch'));
  return true;
}

/** Every write to /dev/full fails as on a full disk. */
function fillDiskFor(record: string): void {
  rmSync(record, { force: true });
  try {
    symlinkSync('/dev/full', record);
  } catch {
    // The step has ended, and its folder was removed.
  }
}

const RUN = 'torture-00000001';

/** More than all kills and lost scripts can need. */
const MOST_LIVES = 500;

function isLost(project: Project): boolean {
  const failures = project.journal(RUN).filter(({ type }) => type === 'agent-failed');
  return failures.some(isLoss);
}

function isLoss(event: RunEvent): boolean {
  return event.type === 'agent-failed' && event.failure.kind === 'lost';
}

function startArgs(game: Game, project: Project, pause: string): string[] {
  const set = ['--set', `log=${project.path('log')}`, '--set', `pause=${pause}`];
  return [game, '--workflow-id', RUN, ...set];
}

/** A run without a first event is started again, under the same id. */
function lifeArgs(game: Game, project: Project, victims: Victims): string[] {
  const hasBegun = project.lines('.raymond', 'state', `${RUN}.jsonl`).length > 0;
  return hasBegun
    ? ['resume', RUN]
    : startArgs(game, project, victims === 'raymond' ? '0' : '0.03');
}

interface Moment {
  readonly name: string;
  /** Resolves with true at the event, with false if the process ended before. */
  come(project: Project, random: Random, life: Started): Promise<boolean>;
}

const MOMENTS: readonly Moment[] = [
  {
    name: 'at some time',
    async come(_, random, { child }) {
      await delay(random() * 600);
      return isRunning(child);
    },
  },
  {
    name: 'while the journal is written',
    come(project, random, { child }) {
      const journal = project.path('.raymond', 'state', `${RUN}.jsonl`);
      const size = () => statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
      const enough = size() + Math.floor(random() ** 2 * 250_000);
      return until(child, () => size() > enough, turn);
    },
  },
  {
    name: 'while the state file is written',
    come(project, random, { child }) {
      const folder = project.path('.raymond', 'state');
      const names = new Set<string>();
      const wanted = 1 + Math.floor(random() * 2);
      return until(child, () => {
        for (const name of filesIn(folder)) if (name.endsWith('.tmp')) names.add(name);
        return names.size >= wanted;
      });
    },
  },
  {
    name: 'while steps are launched',
    come(project, random, { child }) {
      const folder = project.path('.raymond', 'runs', RUN, 'steps');
      const count = () =>
        filesIn(folder).reduce((sum, agent) => sum + filesIn(`${folder}/${agent}`).length, 0);
      const enough = count() + 1 + Math.floor(random() * 8);
      return until(child, () => count() >= enough);
    },
  },
  {
    name: 'while an agent waits',
    come(project, _random, { child }) {
      const isWaiting = () => {
        const types = project.journal(RUN).map(({ type }) => type);
        const of = (wanted: string) => types.filter((type) => type === wanted).length;
        const joins = of('join-started') > of('join-reported');
        return joins || of('agent-asked') > of('question-timed-out');
      };
      return until(child, isWaiting, () => delay(20));
    },
  },
];

/** Without a pause, a kill can hit a write, but the watcher uses a whole processor. */
async function until(
  child: Started['child'],
  condition: () => boolean,
  pause: () => Promise<unknown> = () => delay(1),
): Promise<boolean> {
  while (isRunning(child)) {
    if (condition()) return true;
    await pause();
  }
  return false;
}

const isRunning = (child: Started['child']) => child.exitCode === null && child.signalCode === null;

const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

function endingOf(project: Project, stdout: string): Ending {
  const events = project.journal(RUN);
  const started = events.flatMap((event) =>
    event.type === 'step-started' ? [`${event.agent} ${event.step}`] : [],
  );
  assert.equal(new Set(started).size, started.length, 'a step was started twice');
  assert.equal(events.at(-1)?.type, 'run-ended');
  const state = JSON.parse(project.read('.raymond', 'state', `${RUN}.json`));
  assert.deepEqual(state.status, { kind: 'ended', outcome: 'completed' });
  // The kernel is about to remove a process without a command line.
  const left = survivors(project.folder).filter((line) => !/^\d+ $/.test(line));
  assert.deepEqual(left, []);
  const reported = events.flatMap((event) =>
    event.type === 'join-reported' ? event.workers.filter(isOver).map(({ agent }) => agent) : [],
  );
  assert.equal(new Set(reported).size, reported.length, 'two joins reported the same worker');
  const done = events.filter((event, index) => !isLoss(event) && !isRetried(events, index));
  return { stdout, agents: waysOf(done), notes: project.lines('log') };
}

/** A resume retries a failed worker that no join has reported yet. Only its last failure counts. */
function isRetried(events: readonly RunEvent[], index: number): boolean {
  const event = events[index];
  if (event?.type !== 'agent-failed') return false;
  return events
    .slice(index + 1)
    .some((later) => later.type === 'agent-failed' && later.agent === event.agent);
}

const isOver = ({ status }: { readonly status: WorkerStatus }) => status !== 'running';

function compare(actual: Ending, expected: Ending, victims: Victims): void {
  // A script that was lost twice has failed, and a join has reported that.
  if (isLossy(victims) && JSON.stringify(actual.agents).includes('It is unknown how')) return;
  assert.equal(actual.stdout, expected.stdout);
  assert.deepEqual(Object.keys(actual.agents).sort(), Object.keys(expected.agents).sort());
  for (const [agent, trace] of Object.entries(expected.agents)) {
    assert.deepEqual(actual.agents[agent], trace, `the way of ${agent}`);
  }
  const [done, wanted] = [actual.notes.map(withoutTry), expected.notes.map(withoutTry)];
  if (!isLossy(victims)) {
    assert.deepEqual(
      done.toSorted(),
      wanted.toSorted(),
      'a step was executed twice, or not at all',
    );
    return;
  }
  assert.deepEqual([...new Set(done)].sort(), wanted.toSorted());
  const repeated = actual.notes.filter((_, i) => done.indexOf(done[i] ?? '') < i);
  assert.deepEqual(
    repeated.filter((note) => note.endsWith('try=1')),
    [],
    'a step was repeated without being told so',
  );
}

const withoutTry = (note: string) => note.replace(/ try=\d+$/, '');

async function inProject<T>(
  game: Game,
  what: string,
  use: (project: Project) => Promise<T>,
): Promise<T> {
  const project = new Project(GAMES[game], 'folgenschwere Läufe');
  try {
    const result = await use(project);
    await project.dispose();
    return result;
  } catch (error) {
    killSteps(project.folder);
    throw new Error(`${what}: see ${project.folder}`, { cause: error });
  }
}

type Random = () => number;

/** The same numbers for the same seed. */
function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick<T>(random: Random, items: readonly T[]): T | undefined {
  return items[Math.floor(random() * items.length)];
}
