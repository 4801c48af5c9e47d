// The published package contains every file to which its documents link.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import '../built.ts';
import { readDocument, root } from './documents.ts';
import { isLocal, linkProblem, linksOf, targetOf } from './links.ts';

const base = mkdtempSync(join(tmpdir(), 'raymond-package-'));
const unpacked = join(base, 'package');
afterAll(() => rmSync(base, { recursive: true }));

beforeAll(() => {
  // Without scripts: the program is built already, and the other tests use it meanwhile.
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', base], {
    cwd: root,
  });
  const [archive = ''] = readdirSync(base);
  execFileSync('tar', ['-xzf', archive], { cwd: base });
});

test('every link of the README leads to a file in the package, and so do the links of those', () => {
  const dead: string[] = [];
  const reached = new Set(['README.md']);
  for (const path of reached) {
    for (const link of linksOf(readDocument(path, unpacked)).filter(isLocal)) {
      const problem = linkProblem(unpacked, link);
      if (problem !== undefined) dead.push(`${path}: ${problem}`);
      else if (targetOf(link).endsWith('.md')) reached.add(targetOf(link));
    }
  }
  expect(dead).toEqual([]);
  expect(reached.size).toBeGreaterThan(30);
});

test('the program of the package runs without any other package', () => {
  const version = execFileSync(process.execPath, ['bin/raymond.js', '--version'], {
    cwd: unpacked,
    encoding: 'utf8',
  });
  expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
});
