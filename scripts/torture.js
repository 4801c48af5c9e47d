// Kills and resumes Raymond repeatedly: npm run torture -- --rounds 200 --seed 1
// Without --game it plays all games. --victims chooses what is killed in the games of runs, and --dense lets the
// kills follow each other as soon as possible. The games of triggers kill `raymond up` and workers:
// npm run torture -- --game triggers --rounds 5 --kills 100
// Each round has its own seed, which is printed when the round fails.
import { parseArgs } from 'node:util';
import { importTypeScript } from './typescript-of-tests.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '30' },
    game: { type: 'string' },
    victims: { type: 'string' },
    dense: { type: 'boolean', default: false },
  },
});

const { GAMES, torture, undisturbedEnding } = await importTypeScript('test/crash/torture.ts');
const triggers = await importTypeScript('test/triggers/torture.ts');
const { startServer } = await importTypeScript('test/postgres/server.ts');

const all = [...Object.keys(GAMES), ...Object.keys(triggers.GAMES)];
const games = values.game === undefined ? all : all.filter((name) => name.startsWith(values.game));
if (games.length === 0)
  throw new Error(`There is no game ${values.game}. Name one of: ${all.join('; ')}`);
const kills = Number(values.kills);
const first = Number(values.seed);
const seeds = Array.from({ length: Number(values.rounds) }, (_, round) => first + round);
for (const game of games) {
  const play = triggers.GAMES[game] ? playTriggers : playRun;
  await play(game);
}

async function playRun(game) {
  const expected = await undisturbedEnding(game);
  for (const seed of seeds) {
    for (const victims of values.victims === undefined ? GAMES[game].victims : [values.victims]) {
      const counts = await torture({ game, seed, kills, victims, isDense: values.dense }, expected);
      const what = `${game}, seed ${seed}, ${victims}`;
      console.log(`${what}: the same ending after ${JSON.stringify(counts)}`);
    }
  }
}

async function playTriggers(game) {
  const parts = triggers.GAMES[game];
  for (const seed of seeds) {
    const server = parts.workers === undefined ? undefined : await startServer();
    const database = server && { database: server.url() };
    const wanted = { ...parts, ...database, seed, kills, occasions: Math.ceil(kills / 3) };
    const counts = await triggers.tortureTriggers(wanted);
    await server?.dispose();
    console.log(`${game}, seed ${seed}: each once, or with a reason: ${JSON.stringify(counts)}`);
  }
}
