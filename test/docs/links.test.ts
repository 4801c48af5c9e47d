// Links between documents must lead to an existing file and an existing heading.
import { expect, test } from 'vitest';
import { documents, root } from './documents.ts';
import { isLocal, linkProblem, linksOf, targetOf } from './links.ts';

const links = documents.flatMap(linksOf);

test('the documents contain links', () => {
  expect(links.length).toBeGreaterThan(20);
});

test.each(links.filter(isLocal))('$path: $link', (link) => {
  expect(linkProblem(root, link)).toBeUndefined();
});

test('every document can be reached from the README', () => {
  const reached = new Set<string>();
  const queue = ['README.md'];
  for (const path of queue) {
    if (reached.has(path)) continue;
    reached.add(path);
    for (const link of links.filter((from) => from.path === path)) {
      const file = targetOf(link);
      if (file.endsWith('.md')) queue.push(file);
    }
  }
  const lost = documents.map(({ path }) => path).filter((path) => !reached.has(path));
  expect(lost).toEqual([]);
});
