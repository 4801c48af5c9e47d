// Numbers the decisions of a throwaway repository.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const script = fileURLToPath(new URL('number-decisions.js', import.meta.url));
const repository = mkdtempSync(join(tmpdir(), 'raymond-decisions-'));
afterAll(() => rmSync(repository, { recursive: true }));

test('gaps and doubled numbers go, and every link follows its record', () => {
  execFileSync('git', ['init', '--quiet'], { cwd: repository });
  mkdirSync(join(repository, 'docs/decisions'), { recursive: true });
  write('docs/decisions/README.md', '| 1 | [First](0001-first.md) |\n');
  write('docs/decisions/0001-first.md', '# 1. First\n\nSee [decision 5](0005-late.md).\n');
  write('docs/decisions/0002-new.md', '# 2. New\n');
  write('docs/decisions/0002-also-new.md', '# 2. Also new\n');
  write('docs/decisions/0005-late.md', '# 5. Late, see [2](0002-new.md)\n');
  write(
    'guide.md',
    '[Decision 5](docs/decisions/0005-late.md), [why](docs/decisions/0009-new.md)\n',
  );
  write('code.ts', '// docs/decisions/0005-late.md, and 0005-other.md\n');
  for (const _ of ['once', 'again, without a change'])
    execFileSync(process.execPath, [script], { cwd: repository });
  expect(readdirSync(join(repository, 'docs/decisions')).sort()).toEqual([
    '0001-first.md',
    '0002-also-new.md',
    '0003-new.md',
    '0004-late.md',
    'README.md',
  ]);
  expect(read('docs/decisions/0001-first.md')).toContain('See [decision 4](0004-late.md).');
  expect(read('docs/decisions/0003-new.md')).toBe('# 3. New\n');
  expect(read('docs/decisions/0004-late.md')).toBe('# 4. Late, see [3](0003-new.md)\n');
  expect(read('guide.md')).toBe(
    '[Decision 4](docs/decisions/0004-late.md), [why](docs/decisions/0003-new.md)\n',
  );
  expect(read('code.ts')).toBe('// docs/decisions/0004-late.md, and 0005-other.md\n');
});

function write(file: string, text: string): void {
  writeFileSync(join(repository, file), text);
}

function read(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}
