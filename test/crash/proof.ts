/**
 * The kill proof: all games that disturb Raymond, played with one seed after another until they have
 * been disturbed often enough. Every play is a line of a file, so the proof continues in later sittings.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import * as z from 'zod/mini';
import { chaos, WEATHERS } from '../fleet/chaos.ts';
import { startServer } from '../postgres/server.ts';
import { GAMES as TRIGGER_GAMES, tortureTriggers } from '../triggers/torture.ts';
import { type Ending, GAMES, type Torture, torture, undisturbedEnding } from './torture.ts';

const count = z.int().check(z.nonnegative());

const playSchema = z.object({
  game: z.string(),
  victims: z.string(),
  seed: count,
  kills: count,
  /** Absent if the run ended like an undisturbed one. */
  problem: z.optional(z.string()),
  /** The cause of the problem and what became of it, which a person adds. */
  cause: z.optional(z.string()),
  commit: z.string(),
  node: z.string(),
  date: z.string(),
});

export type Play = z.infer<typeof playSchema>;

/** One of the ways to disturb one of the games. */
export interface Cell {
  readonly game: string;
  readonly victims: string;
  /** How to repeat a play of the cell. */
  command(seed: number): string;
  /** Gives the number of kills or disturbances; undefined if this machine cannot play it. */
  play(seed: number): Promise<number | undefined>;
}

const KILLS = 60;
const CREW = { runs: 8, workers: 3, disturbances: 10, leaseS: 8 };

export function cells(): readonly Cell[] {
  const endings = new Map<string, Promise<Ending>>();
  const endingOf = (game: Torture['game']) => {
    const known = endings.get(game ?? '') ?? undisturbedEnding(game);
    endings.set(game ?? '', known);
    return known;
  };
  const games = Object.keys(GAMES) as (keyof typeof GAMES)[];
  return [
    ...games.flatMap((game) =>
      GAMES[game].victims.map((victims) => ({
        ...{ game, victims },
        command: (seed: number) =>
          `npm run torture -- --game ${game} --victims "${victims}" --seed ${seed} --kills ${KILLS} --dense --rounds 1`,
        async play(seed: number) {
          const wanted = { game, seed, kills: KILLS, victims, isDense: true } as const;
          const counts = await torture(wanted, await endingOf(game));
          return Object.values(counts).reduce((sum, one) => sum + one, 0);
        },
      })),
    ),
    ...Object.entries(TRIGGER_GAMES).map(([game, parts]) => ({
      ...{ game, victims: parts.workers ? 'raymond up and workers' : 'raymond up' },
      command: (seed: number) =>
        `npm run torture -- --game "${game}" --seed ${seed} --kills ${KILLS} --rounds 1`,
      async play(seed: number) {
        const server = parts.workers === undefined ? undefined : await startServer();
        const database = server && { database: server.url() };
        await tortureTriggers({ ...parts, ...database, seed, kills: KILLS, occasions: KILLS / 3 });
        await server?.dispose();
        return KILLS;
      },
    })),
    ...[undefined, ...WEATHERS].map((weather) => ({
      game: 'fleet',
      victims: weather ? `weather: ${weather}` : 'workers and the database',
      command: (seed: number) =>
        `npm run chaos -- --runs ${CREW.runs} --workers ${CREW.workers} --disturbances ${CREW.disturbances} --lease ${CREW.leaseS} --seed ${seed}${weather ? ` --weather=${weather}` : ''}`,
      async play(seed: number) {
        const figures = await chaos({ ...CREW, seed, ...(weather && { weather }) });
        return figures && CREW.disturbances;
      },
    })),
  ];
}

export interface Wanted {
  /** The file of the plays. */
  readonly file: string;
  /** How many kills there should be in all, with those of earlier sittings. */
  readonly kills: number;
  /** No play begins after this time. */
  readonly until: number;
  /** The games to play; all, if none is named. Several processes can play different games. */
  readonly games: readonly string[];
  say(text: string): void;
}

/** Continues the proof. Gives the plays of this sitting that failed. */
export async function prove(wanted: Wanted): Promise<readonly Play[]> {
  let left = cells().filter(({ game }) => wanted.games.length === 0 || wanted.games.includes(game));
  const failed: Play[] = [];
  for (;;) {
    const plays = readPlays(wanted.file);
    const cell = nextCell(plays, left);
    if (!cell || killsIn(plays) >= wanted.kills || Date.now() > wanted.until) return failed;
    const { game, victims } = cell;
    const seed = nextSeed(plays, cell);
    const outcome = await outcomeOf(cell, seed, wanted.say);
    if (outcome === undefined) {
      wanted.say(`${game}, ${victims}: this machine cannot play it`);
      left = left.filter((one) => one !== cell);
      continue;
    }
    const play = { game, victims, seed, ...outcome, ...circumstances() };
    appendFileSync(wanted.file, `${JSON.stringify(play)}\n`);
    if (play.problem !== undefined) failed.push(play);
    wanted.say(
      `${game}, ${victims}, seed ${seed}: ${play.problem ?? `the same ending after ${play.kills} kills`}`,
    );
  }
}

async function outcomeOf(
  cell: Cell,
  seed: number,
  say: Wanted['say'],
): Promise<Pick<Play, 'kills' | 'problem'> | undefined> {
  try {
    const kills = await cell.play(seed);
    return kills === undefined ? undefined : { kills };
  } catch (error) {
    say(inspect(error));
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const [problem = ''] = String(cause).split('\n');
    return { kills: 0, problem };
  }
}

export function readPlays(file: string): readonly Play[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => z.parse(playSchema, JSON.parse(line)));
}

/** The cell that has been played least. Plays of the fleet have fewer kills, and each takes far longer. */
export function nextCell<T extends Pick<Cell, 'game' | 'victims'>>(
  plays: readonly Play[],
  left: readonly T[],
): T | undefined {
  return left.toSorted((a, b) => playsOf(plays, a).length - playsOf(plays, b).length)[0];
}

const nextSeed = (plays: readonly Play[], cell: Cell): number =>
  Math.max(0, ...playsOf(plays, cell).map(({ seed }) => seed)) + 1;

const playsOf = (plays: readonly Play[], { game, victims }: Pick<Cell, 'game' | 'victims'>) =>
  plays.filter((play) => play.game === game && play.victims === victims);

const killsIn = (plays: readonly Play[]) => plays.reduce((sum, { kills }) => sum + kills, 0);

function circumstances(): Pick<Play, 'commit' | 'node' | 'date'> {
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' });
  return {
    commit: commit.trim(),
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
}

const PROOF_FILES = { plays: 'bench/results/proof.jsonl', page: 'docs/reference/proof.md' };

export function proofFiles(root: string): { readonly plays: string; readonly page: string } {
  return { plays: join(root, PROOF_FILES.plays), page: join(root, PROOF_FILES.page) };
}

export function writeProof(root: string): void {
  const { plays, page } = proofFiles(root);
  writeFileSync(page, proofText(readPlays(plays)));
}

/** The document with what was played. */
export function proofText(plays: readonly Play[]): string {
  const rows = cells().map((cell) => {
    const own = playsOf(plays, cell);
    const failed = own.filter(({ problem }) => problem !== undefined);
    const seeds = own.length === 0 ? '-' : `1 to ${Math.max(...own.map(({ seed }) => seed))}`;
    return `| ${cell.game} | ${cell.victims} | ${own.length} | ${killsIn(own)} | ${seeds} | ${failed.length} |`;
  });
  const failures = plays.flatMap(({ game, victims, seed, problem, cause, commit, date }) =>
    problem === undefined
      ? []
      : [`- ${game}, ${victims}, seed ${seed} (${commit}, ${date}): ${cause ?? oneLine(problem)}`],
  );
  const dates = plays.map(({ date }) => date).sort();
  const commits = new Set(plays.map(({ commit }) => commit)).size;
  const examples = ['torture', 'fleet'].flatMap(
    (game) => cells().find((cell) => cell.game === game) ?? [],
  );
  return `# The kill proof

\`npm run proof\` plays workflows, disturbs Raymond at random moments, and checks that each run ends like one that nobody disturbed: the same results, the same way of each agent, each step exactly once unless its own process was killed, no process left, and the same branches and files.

${plays.length} plays with ${killsIn(plays).toLocaleString('en-US')} kills and other disturbances so far${dates.length === 0 ? '' : `, from ${dates[0]} to ${dates.at(-1)}, on ${commits} ${commits === 1 ? 'version' : 'versions'} of the code`}. ${failures.length === 0 ? 'Every run ended as it should.' : `${failures.length} did not end as they should; see [below](#failures).`}

| game | killed or disturbed | plays | kills | seeds | failed |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

- \`torture\`: loops, calls into loops, forks, and questions that nobody answers, with scripts.
- \`joins\`: nested joins, races, children that fail, and deadlines.
- \`worktrees\`: agents that work and commit in worktrees of a repository, and merges.
- \`prompts\`: prompts that hand over, call, fork and join, ask for permissions and put a question.
- \`triggers\`: schedules, webhooks and files, kept by one \`raymond up\`, by two, or by workers with a database. Each occasion starts one run, or is recorded with the reason.
- \`fleet\`: three workers on one PostgreSQL database. They are killed or paused, or the database is, and the weather delays, stalls or cuts their connections, sets their clocks, or fills their disks. Each play has ${CREW.runs} runs and ${CREW.disturbances} disturbances.
- \`records\` fills the disk for the records of a step.

## How to repeat a play

A play depends on its seed, and on how fast the machine is. The seeds choose the moments:

\`\`\`sh not-run
${examples.map((cell) => cell.command(1)).join('\n')}
\`\`\`

\`npm run proof -- --kills 10000 --minutes 60\` continues with the way of killing that has been played least, and writes this page. \`bench/results/proof.jsonl\` has a line for each play, with its seed and the version of the code.
${failures.length === 0 ? '' : `\n## Failures\n\n${failures.join('\n')}\n`}`;
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 200);
