// Links between documents must lead to an existing file and an existing heading.
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { documents, proseOf, readDocument, root } from './documents.ts';

const links = documents.flatMap((document) =>
  [...proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => ({
    path: document.path,
    link,
  })),
);

test('the documents contain links', () => {
  expect(links.length).toBeGreaterThan(20);
});

test.each(links.filter(({ link }) => !/^[a-z]+:/.test(link)))('$path: $link', ({ path, link }) => {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : normalize(join(dirname(path), file));
  expect(existsSync(join(root, target)), `${target} does not exist`).toBe(true);
  if (anchor !== undefined) expect(anchorsOf(target)).toContain(anchor);
});

test('every document can be reached from the README', () => {
  const reached = new Set<string>();
  const queue = ['README.md'];
  for (const path of queue) {
    if (reached.has(path)) continue;
    reached.add(path);
    for (const { link } of links.filter((from) => from.path === path)) {
      const file = normalize(join(dirname(path), link.split('#')[0] ?? ''));
      if (file.endsWith('.md')) queue.push(file);
    }
  }
  const lost = documents.map(({ path }) => path).filter((path) => !reached.has(path));
  expect(lost).toEqual([]);
});

/** Named as on GitHub. */
function anchorsOf(path: string): readonly string[] {
  const headings = [...proseOf(readDocument(path)).matchAll(/^#{1,6} (.+)$/gm)];
  return headings.map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
