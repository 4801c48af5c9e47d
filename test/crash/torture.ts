/**
 * Disturbs a run at random moments, resumes it until it ends, and compares the result. It kills Raymond,
 * its steps, launchers, wrappers, agents or git with -9, or fills the disk for records.
 */
import assert from 'node:assert/strict';
import type { ChildStatus, RunEvent } from '../../src/model/event.ts';
import { Project, type Started } from '../raymond.ts';
import { killSteps, processesLeft } from '../survivors.ts';
import { harm, isLossy, killsRaymond, repeatsPrompts, type Victims } from './harm.ts';
import {
  GIT_MOMENTS,
  type Moment,
  momentsOf,
  PERSON_MOMENTS,
  RUN,
  TREE_MOMENTS,
} from './moments.ts';
import { PROMPT_WORKFLOW, personOf, preparePrompts } from './prompt-game.ts';
import { pick, randomFrom } from './random.ts';
import { JOIN_WORKFLOW, TORTURE_WORKFLOW } from './torture-workflow.ts';
import { type Ways, waysOf } from './ways.ts';
import { leftInRepository, prepareRepository, WORKTREE_WORKFLOW } from './worktree-game.ts';

interface Game {
  /** The folder of the workflow has the name of the game. */
  readonly files: Readonly<Record<string, string>>;
  readonly moments: readonly Moment[];
  /** Like `moments`, but sooner after each other, for as many kills in a play as possible. */
  readonly denseMoments: (victims: Victims) => readonly Moment[];
  readonly victims: readonly Victims[];
  /** Returns more of the environment. */
  prepare(project: Project): Record<string, string>;
  /** The repository after the run. */
  left(project: Project): unknown;
  /** More of the command line that starts the run, or resumes it. */
  readonly options?: readonly string[];
  /** Somebody who answers what is open, whenever the result is called. */
  person?(project: Project, env: Record<string, string>): () => Promise<void>;
}

const SCRIPT_VICTIMS: readonly Victims[] = [
  'raymond',
  'raymond and its steps',
  'raymond and its launchers',
  'launchers',
  'wrappers',
  'records',
];

/** A start of Raymond takes longer than a step, so a kill that spares it can come sooner. */
const dense = (victims: Victims) =>
  momentsOf(
    killsRaymond(victims)
      ? { journalBytes: 6_000, patienceMs: 700 }
      : { journalBytes: 3_000, mostMs: 60, patienceMs: 100 },
  );

const OF_SCRIPTS = {
  moments: momentsOf({ journalBytes: 250_000 }),
  denseMoments: dense,
  victims: SCRIPT_VICTIMS,
  prepare: () => ({}),
  left: () => undefined,
};

export const GAMES = {
  torture: { ...OF_SCRIPTS, files: TORTURE_WORKFLOW },
  joins: { ...OF_SCRIPTS, files: JOIN_WORKFLOW },
  worktrees: {
    files: WORKTREE_WORKFLOW,
    moments: [...momentsOf({ journalBytes: 15_000 }), ...TREE_MOMENTS],
    denseMoments: (victims) => [...dense(victims), ...TREE_MOMENTS],
    victims: ['raymond', 'raymond and its steps', 'raymond and git', 'agents', 'git', 'wrappers'],
    prepare: prepareRepository,
    left: leftInRepository,
  },
  prompts: {
    files: PROMPT_WORKFLOW,
    moments: [...momentsOf({ journalBytes: 15_000 }), ...PERSON_MOMENTS],
    denseMoments: (victims) => [...dense(victims), ...PERSON_MOMENTS],
    victims: [
      'raymond',
      'raymond and its steps',
      'raymond and its launchers',
      'agents',
      'wrappers',
    ],
    prepare: preparePrompts,
    left: () => undefined,
    options: ['--ask-permissions'],
    person: personOf,
  },
} as const satisfies Readonly<Record<string, Game>>;

type GameName = keyof typeof GAMES;

/** The suite plays the same games each time. `npm run torture` plays others. */
export const SUITE_SEED = 8;

export interface Torture {
  readonly game?: GameName;
  readonly seed: number;
  /** The number of kills after which the run continues undisturbed. */
  readonly kills: number;
  readonly victims: Victims;
  /** Whether the kills follow each other as soon as possible. */
  readonly isDense?: boolean;
}

/** Everything that must not depend on kills. */
export interface Ending {
  readonly stdout: string;
  readonly agents: Ways;
  /** The notes of the steps, without the number of the attempt. */
  readonly notes: readonly string[];
  /** The repository after the run. */
  readonly left: unknown;
}

export async function undisturbedEnding(name: GameName = 'torture'): Promise<Ending> {
  return inProject(name, 'undisturbed', async (play) => {
    let life = start(play, startArgs(play, '0'));
    for (let lives = 1; ; lives++) {
      const { code, stdout, stderr } = await life.ended;
      if (code === 0) return endingOf(play, stdout);
      assert.ok(code === WAITS && lives < MOST_LIVES, stderr);
      await play.person();
      life = start(play, lifeArgs(play, 'raymond'));
    }
  });
}

/** Gives the number of kills by what Raymond was doing. Throws an error with the seed if anything differs. */
export async function torture(
  { game: name = 'torture', seed, kills, victims, isDense = false }: Torture,
  expected: Ending,
): Promise<Readonly<Record<string, number>>> {
  return inProject(name, `${name}, seed ${seed}, killing ${victims}`, async (play) => {
    const { project } = play;
    const { moments: usual, denseMoments }: Game = GAMES[name];
    const ofGame = isDense ? denseMoments(victims) : usual;
    const moments = victims.endsWith('git') ? GIT_MOMENTS : ofGame;
    const random = randomFrom(seed);
    const counts: Record<string, number> = {};
    let life = start(play, lifeArgs(play, victims));
    for (let harmed = 0, lives = 1; ; ) {
      assert.ok(lives < MOST_LIVES, 'the run does not end');
      const moment = harmed < kills ? pick(random, moments) : undefined;
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
      await play.person();
      // The agent of a script that was lost twice fails, and a person resumes the run.
      const isLeft = code === WAITS || (isLossy(victims) && code === 1 && isLost(project));
      if (!isKilled && !isLeft) {
        assert.equal(code, 0, stderr);
        compare(await endingOf(play, stdout), expected, victims);
        return counts;
      }
      life = start(play, lifeArgs(play, victims));
      lives += 1;
    }
  });
}

interface Play {
  readonly name: GameName;
  readonly project: Project;
  readonly env: Record<string, string>;
  person(): Promise<void>;
}

/** The exit code of a run that waits for a person. */
const WAITS = 2;

function start({ project, env }: Play, args: readonly string[]): Started {
  return project.start(args, { env });
}

/** More than all kills and lost scripts can need. */
const MOST_LIVES = 500;

function isLost(project: Project): boolean {
  const failures = project.journal(RUN).filter(({ type }) => type === 'agent-failed');
  return failures.some(isLoss);
}

function isLoss(event: RunEvent): boolean {
  return event.type === 'agent-failed' && event.failure.kind === 'lost';
}

function startArgs({ name, project }: Play, pause: string): string[] {
  const set = ['--set', `log=${project.path('log')}`, '--set', `pause=${pause}`];
  return [name, '--workflow-id', RUN, ...set, ...optionsOf(name)];
}

const optionsOf = (name: GameName): readonly string[] => (GAMES[name] as Game).options ?? [];

/** A run without a first event is started again, under the same id. */
function lifeArgs(play: Play, victims: Victims): string[] {
  const hasBegun = play.project.lines('.raymond', 'state', `${RUN}.jsonl`).length > 0;
  const resume = ['resume', RUN, ...optionsOf(play.name)];
  return hasBegun ? resume : startArgs(play, victims === 'raymond' ? '0' : '0.03');
}

async function endingOf({ name, project }: Play, stdout: string): Promise<Ending> {
  const events = project.journal(RUN);
  const started = events.flatMap((event) =>
    event.type === 'step-started' ? [`${event.agent} ${event.step}`] : [],
  );
  assert.equal(new Set(started).size, started.length, 'a step was started twice');
  assert.equal(events.at(-1)?.type, 'run-ended');
  const state = JSON.parse(project.read('.raymond', 'state', `${RUN}.json`));
  assert.deepEqual(state.status, { kind: 'ended', outcome: 'completed' });
  assert.deepEqual(await processesLeft(project.folder), []);
  const reported = events.flatMap((event) =>
    event.type === 'join-reported' ? event.workers.filter(isOver).map(({ agent }) => agent) : [],
  );
  assert.equal(new Set(reported).size, reported.length, 'two joins reported the same child');
  const done = events.filter((event, index) => !isLoss(event) && !isRetried(events, index));
  return {
    stdout: steady(stdout, project),
    agents: JSON.parse(steady(JSON.stringify(waysOf(done)), project)),
    notes: project.lines('log'),
    left: GAMES[name].left(project),
  };
}

/** Repeated prompts cost more, and every project has its own folder. */
function steady(text: string, { folder }: Project): string {
  return text.replaceAll(folder, '/project').replace(/(\\?"cost_usd\\?"):[\d.e-]+/g, '$1:0');
}

/** A resume retries a failed child that no join has reported yet. Only its last failure counts. */
function isRetried(events: readonly RunEvent[], index: number): boolean {
  const event = events[index];
  if (event?.type !== 'agent-failed') return false;
  return events
    .slice(index + 1)
    .some((later) => later.type === 'agent-failed' && later.agent === event.agent);
}

const isOver = ({ status }: { readonly status: ChildStatus }) => status !== 'running';

function compare(actual: Ending, expected: Ending, victims: Victims): void {
  // A script that was lost twice has failed, and a join has reported that.
  const ways = JSON.stringify(actual.agents);
  if (isLossy(victims) && ways.includes('It is unknown how')) return;
  // Raymond runs a git that was killed again, but not for ever.
  if (victims.endsWith('git') && /could not make the worktree [^"]*: killed/.test(ways)) return;
  assert.equal(actual.stdout, expected.stdout);
  assert.deepEqual(Object.keys(actual.agents).sort(), Object.keys(expected.agents).sort());
  for (const [agent, trace] of Object.entries(expected.agents)) {
    assert.deepEqual(actual.agents[agent], trace, `the way of ${agent}`);
  }
  assert.deepEqual(actual.left, expected.left);
  const [done, wanted] = [actual.notes.map(withoutTry), expected.notes.map(withoutTry)];
  if (!repeatsPrompts(victims)) {
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

const withoutTry = (note: string) => note.replace(/ try=[\d?]+$/, '');

async function inProject<T>(
  name: GameName,
  what: string,
  use: (play: Play) => Promise<T>,
): Promise<T> {
  const game: Game = GAMES[name];
  const project = new Project(game.files, 'folgenschwere Läufe');
  try {
    const env = game.prepare(project);
    const person = game.person?.(project, env) ?? (async () => {});
    const result = await use({ name, project, env, person });
    await project.dispose();
    return result;
  } catch (error) {
    killSteps(project.folder);
    throw new Error(`${what}: see ${project.folder}`, { cause: error });
  }
}
