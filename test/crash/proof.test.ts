import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cells, nextCell, type Play, proofFiles, proofText, readPlays } from './proof.ts';

const root = join(import.meta.dirname, '..', '..');

test('the page shows the plays that were recorded: npm run proof -- --page', () => {
  const { plays, page } = proofFiles(root);
  expect(readFileSync(page, 'utf8')).toBe(proofText(readPlays(plays)));
});

test('every play that was recorded can still be repeated', () => {
  const known = new Set(cells().map(({ game, victims }) => `${game}: ${victims}`));
  const played = readPlays(proofFiles(root).plays).map((play) => `${play.game}: ${play.victims}`);
  expect(played.filter((cell) => !known.has(cell))).toEqual([]);
});

test('the way of killing with the fewest plays is next', () => {
  const circumstances = { seed: 1, commit: 'c', node: 'v', date: '2026-01-01' };
  const play = (victims: string, kills: number): Play => ({
    ...{ game: 'g', victims, kills },
    ...circumstances,
  });
  const left = [
    { game: 'g', victims: 'a' },
    { game: 'g', victims: 'b' },
  ];
  expect(nextCell([], left)).toBe(left[0]);
  expect(nextCell([play('a', 30)], left)).toBe(left[1]);
  expect(nextCell([play('a', 30), play('b', 10)], left)).toBe(left[0]);
  expect(nextCell([play('a', 30), play('b', 10), play('a', 30)], left)).toBe(left[1]);
});
