// Kills and resumes Raymond repeatedly: npm run torture -- --rounds 200 --seed 1
// Without --game it plays all games: torture, joins and worktrees. --victims chooses what is killed.
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
  },
});

const { GAMES, torture, undisturbedEnding } = await importTypeScript('test/crash/torture.ts');
const games = values.game === undefined ? Object.keys(GAMES) : [values.game];
const kills = Number(values.kills);
const first = Number(values.seed);
for (const game of games) {
  const expected = await undisturbedEnding(game);
  for (let seed = first; seed < first + Number(values.rounds); seed++) {
    for (const victims of values.victims === undefined ? GAMES[game].victims : [values.victims]) {
      const counts = await torture({ game, seed, kills, victims }, expected);
      const what = `${game}, seed ${seed}, ${victims}`;
      console.log(`${what}: the same ending after ${JSON.stringify(counts)}`);
    }
  }
}
