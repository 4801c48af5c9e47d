import { test } from 'vitest';
import { FIGURES, pageFigures } from './page-figures.ts';

test.each(Object.entries(FIGURES))('%s', async (_, figures) => {
  for (const line of await pageFigures(figures)) console.log(line);
});
