// Links between documents must lead to an existing file and an existing heading.
import { expect, test } from 'vitest';
import { documents, root } from './documents.ts';
import { isLocal, linkProblem, linksOf, targetOf } from './links.ts';

const links = documents.flatMap(linksOf);

test('the documents contain links', () => {
  expect(links.length).toBeGreaterThan(20);
});

test('every link leads to a file and a heading', () => {
  const dead = links.filter(isLocal).flatMap((link) => {
    const problem = linkProblem(root, link);
    return problem === undefined ? [] : `${link.path}: ${problem}`;
  });
  expect(dead).toEqual([]);
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
