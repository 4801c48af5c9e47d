import { test } from 'vitest';
import { pageFigures } from './page-figures.ts';

test('figures of the page', async () => {
  for (const line of await pageFigures()) console.log(line);
});
