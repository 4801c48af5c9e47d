import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Placeholders } from './placeholders.ts';

test('the last turn removes what codex has left in place of missing files, and nothing else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-placeholders-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  const names = ['.npmrc', '.husky', '.vscode', '.envrc', '.yarnrc'];
  mkdirSync(at('.vscode'));
  const placeholders = new Placeholders();
  const first = placeholders.expect(names.map(at));
  for (const name of ['.npmrc', '.husky']) mkdirSync(at(name));
  writeFileSync(at('.husky/pre-commit'), '');
  writeFileSync(at('.envrc'), '');
  writeFileSync(at('.yarnrc'), '', { mode: 0o444 });
  const second = placeholders.expect(names.map(at));
  first();
  expect(names.filter((name) => existsSync(at(name)))).toEqual(names);
  second();
  expect(names.filter((name) => existsSync(at(name)))).toEqual(['.husky', '.vscode', '.envrc']);
});
