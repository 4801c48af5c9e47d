import { expect, test } from 'vitest';
import { patchLines, treeOf } from './patch.ts';

test('the lines of a patch, without its head', () => {
  const patch = [
    'diff --git a/x b/x',
    '--- a/x',
    '+++ b/x',
    '@@ -1,2 +1,2 @@ function a()',
    ' same',
    '-old',
    '+++ new',
    '\\ No newline at end of file',
    '',
  ].join('\n');
  expect(patchLines(patch)).toEqual([
    { kind: 'gap', text: 'line 1  function a()' },
    { kind: 'same', text: 'same' },
    { kind: 'removed', text: 'old' },
    { kind: 'added', text: '++ new' },
    { kind: 'gap', text: 'No newline at end of file' },
  ]);
  expect(patchLines('@@ -0,0 +1 @@\n+new\n')).toEqual([{ kind: 'added', text: 'new' }]);
  expect(patchLines('@@ -1 +0,0 @@\n-old\n')).toEqual([{ kind: 'removed', text: 'old' }]);
  expect(patchLines('diff --git a/x b/y\nrename from x\nrename to y\n')).toEqual([]);
});

test('folders with one folder share its row, and files come after folders', () => {
  const of = (path: string) => {
    const none = { was: null, patch: null, omitted: null };
    return { path, kind: 'changed', added: 0, removed: 0, ...none } as const;
  };
  const rows = treeOf(['README.md', 'src/a/b/x.ts', 'src/a/b/y.ts', 'src/z.ts'].map(of));
  expect(rows.map(({ depth, name }) => `${depth} ${name}`)).toEqual([
    '0 src/',
    '1 a/b/',
    '2 x.ts',
    '2 y.ts',
    '1 z.ts',
    '0 README.md',
  ]);
});
