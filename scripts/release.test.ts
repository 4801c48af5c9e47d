// Makes releases of a throwaway repository.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = fileURLToPath(new URL('release.js', import.meta.url));
const lock = (version: string) =>
  JSON.stringify(
    { version, packages: { '': { version }, 'node_modules/same': { version: '0.1.0' } } },
    null,
    2,
  );
const NOTES = '**New**\n\n- `$&` and # signs stay.';
const CHANGELOG = `# Changelog\n\n## Unreleased\n\n${NOTES}\n\n## 0.1.0 - 2026-11-17\n\n- Old.\n`;

let repository: string;

beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), 'raymond-release-'));
  git('init', '--quiet');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.com');
  mkdirSync(join(repository, 'docs/reference'), { recursive: true });
  write('package.json', '{\n  "version": "0.1.0"\n}\n');
  write('package-lock.json', lock('0.1.0'));
  write('docs/reference/openapi.json', '{ "info": { "version": "0.1.0" } }\n');
  mkdirSync(join(repository, 'plugin/.claude-plugin'), { recursive: true });
  write('plugin/.claude-plugin/plugin.json', '{ "version": "0.1.0" }\n');
  write('server.json', '{ "version": "0.1.0", "packages": [{ "version": "0.1.0" }] }\n');
  write('CHANGELOG.md', CHANGELOG);
  commitAll();
});
afterEach(() => rmSync(repository, { recursive: true }));

test('a release has the version, a commit, a tag and notes from the changelog', () => {
  expect(release('0.2.0')).toEqual({ status: 0, stdout: `${NOTES}\n`, stderr: '' });
  expect(read('package.json')).toContain('"version": "0.2.0"');
  expect(JSON.parse(read('package-lock.json'))).toEqual(JSON.parse(lock('0.2.0')));
  expect(read('docs/reference/openapi.json')).toContain('"version": "0.2.0"');
  expect(read('plugin/.claude-plugin/plugin.json')).toContain('"version": "0.2.0"');
  expect(read('server.json')).not.toContain('0.1.0');
  const day = new Date().toISOString().slice(0, 10);
  expect(read('CHANGELOG.md')).toBe(
    CHANGELOG.replace('## Unreleased\n', `## Unreleased\n\n## 0.2.0 - ${day}\n`),
  );
  expect(git('status', '--porcelain')).toBe('');
  expect(git('log', '-1', '--format=%s')).toBe('release: 0.2.0');
  expect(git('cat-file', '-t', 'v0.2.0')).toBe('tag');
  expect(git('tag', '--list', '--format=%(contents)', 'v0.2.0')).toBe(NOTES);
  expect(git('rev-parse', 'v0.2.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
});

test('a second release needs new notes', () => {
  release('0.2.0');
  refuses('0.3.0', /"## Unreleased" of CHANGELOG.md is empty/);
});

test('a rehearsal prints the notes and changes nothing', () => {
  expect(release('0.2.0', '--dry-run')).toMatchObject({ status: 0, stdout: `${NOTES}\n` });
  expect(git('status', '--porcelain')).toBe('');
  expect(git('tag')).toBe('');
});

test('a changed tree is refused', () => {
  write('left.txt', '');
  refuses('0.2.0', /Commit or remove these changes first:\n\?\? left.txt/);
});

test('a changelog without the section is refused', () => {
  write('CHANGELOG.md', '# Changelog\n\n## 0.1.0 - 2026-11-17\n\n- Old.\n');
  commitAll();
  refuses('0.2.0', /has no section "## Unreleased"/);
});

test('a tag that exists is refused', () => {
  git('tag', 'v0.2.0');
  refuses('0.2.0', /The tag v0.2.0 already exists/);
});

test.each([
  ['0.1.0', /already has a section for 0.1.0/],
  ['0.0.9', /0.0.9 is not newer than 0.1.0/],
  ['next', /Name the version/],
])('the version %s is refused', (version, message) => {
  refuses(version, message);
});

test('the changelog of Raymond has a section for its version, with a date', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  expect(changelog).toMatch(/^## Unreleased$/m);
  expect(changelog).toMatch(new RegExp(`^## ${version} - \\d{4}-\\d\\d-\\d\\d$`, 'm'));
});

function refuses(version: string, message: RegExp): void {
  const before = [git('rev-parse', 'HEAD'), git('tag'), read('CHANGELOG.md')];
  expect(release(version)).toMatchObject({ status: 1, stdout: '' });
  expect(release(version).stderr).toMatch(message);
  expect([git('rev-parse', 'HEAD'), git('tag'), read('CHANGELOG.md')]).toEqual(before);
}

function release(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: repository,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function commitAll(): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'first');
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();
}

function write(file: string, text: string): void {
  writeFileSync(join(repository, file), text);
}

function read(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}
