import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NOTE_RULES } from '../model/note-rules.ts';
import { notesIn } from './notes-folder.ts';

function folder() {
  const root = mkdtempSync(join(tmpdir(), 'notes '));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const task = join(root, 'task');
  mkdirSync(task);
  const notes = notesIn(() => task, NOTE_RULES);
  return {
    root,
    at: (path: string) => join(task, 'notes', path),
    put: (files: Record<string, string>, may: 'read' | 'write' = 'write') =>
      notes.put('main', new Map(Object.entries(files)), may),
    read: () => {
      const found = notes.read('main');
      const files = [...(found?.files ?? [])].map(
        ([path, bytes]) => [path, String(bytes)] as const,
      );
      return found && { ...found, files: Object.fromEntries(files) };
    },
    remove: () => notes.remove('main'),
  };
}

test('what was put is read again, and nothing of before is left', () => {
  const { at, put, read, remove } = folder();
  put({ 'old.md': 'old' });
  put({ 'a.md': 'A', 'lessons/b c.md': 'B', 'x/y/z/d.md': 'D' });
  expect(read()?.files).toEqual({ 'a.md': 'A', 'lessons/b c.md': 'B', 'x/y/z/d.md': 'D' });
  expect(statSync(at('a.md')).mode & 0o777).toBe(0o600);
  put({ 'a.md': 'A' }, 'read');
  expect(statSync(at('a.md')).mode & 0o777).toBe(0o400);
  remove();
  expect(read()).toBeUndefined();
});

test('links, pipes, second names, hidden names and deep folders are refused, and never followed', () => {
  const { root, at, put, read } = folder();
  writeFileSync(join(root, 'secret'), 'SECRET');
  mkdirSync(join(root, 'secrets'));
  writeFileSync(join(root, 'secrets', 's.md'), 'SECRET');
  put({ 'good.md': 'good' });
  symlinkSync(join(root, 'secret'), at('link.md'));
  symlinkSync(join(root, 'secrets'), at('folder'));
  linkSync(join(root, 'secret'), at('second.md'));
  execFileSync('mkfifo', [at('pipe.md')]);
  for (const name of ['.hidden', '-rf', '__proto__', 'new\nline', 'tab\there', '\u202egnp.md'])
    writeFileSync(at(name), 'x');
  mkdirSync(at('1/2/3/4'), { recursive: true });
  writeFileSync(at('1/2/3/4/deep.md'), 'x');
  const found = read();
  expect(found?.files).toEqual({ 'good.md': 'good' });
  expect(JSON.stringify([...(found?.refused ?? [])])).not.toContain('SECRET');
  expect([...(found?.refused.keys() ?? [])].sort()).toEqual(
    [
      ...['link.md', 'folder', 'second.md', 'pipe.md', '.hidden', '-rf', '__proto__'],
      ...['new\nline', 'tab\there', '\u202egnp.md', '1/2/3/4'],
    ].sort(),
  );
});

test('a link in place of the folder is not followed, and putting notes replaces it', () => {
  const { root, at, put, read } = folder();
  mkdirSync(join(root, 'elsewhere'));
  writeFileSync(join(root, 'elsewhere', 'kept.md'), 'kept');
  symlinkSync(join(root, 'elsewhere'), at('').replace(/\/$/, ''));
  expect(read()).toBeUndefined();
  put({ 'a.md': 'A' });
  expect(read()?.files).toEqual({ 'a.md': 'A' });
  expect(readFileSync(join(root, 'elsewhere', 'kept.md'), 'utf8')).toBe('kept');
  expect(existsSync(join(root, 'elsewhere', 'a.md'))).toBe(false);
});

test('a process that changes the folder meanwhile gets nothing written or removed elsewhere', async () => {
  const { root, put, remove } = folder();
  mkdirSync(join(root, 'elsewhere'));
  writeFileSync(join(root, 'elsewhere', 'kept.md'), 'kept');
  const attacker = spawn('bash', ['-c', ATTACK], { cwd: root, detached: true });
  try {
    await once(attacker.stdout, 'data');
    for (let n = 0; n < 300; n++) {
      put({ 'a.md': 'A', 'lessons/b.md': 'B', 'lessons/kept.md': 'changed' });
      remove();
    }
  } finally {
    process.kill(-(attacker.pid ?? Number.NaN), 'SIGKILL');
    await once(attacker, 'exit');
  }
  // Only the attacker itself has put something there.
  const found = readdirSync(join(root, 'elsewhere')).filter((name) => name !== 'lessons');
  expect(found).toEqual(['kept.md']);
  expect(readFileSync(join(root, 'elsewhere', 'kept.md'), 'utf8')).toBe('kept');
});

/** Puts a link in place of the folders as often as it can. */
const ATTACK = `cd task; ln -s ../elsewhere link; ln -s ../../elsewhere deep; echo ready
while :; do
  mkdir notes 2>/dev/null && ln -s ../../elsewhere notes/lessons 2>/dev/null
  { rm -rf notes/lessons && mv -T deep notes/lessons && ln -s ../../elsewhere deep; } 2>/dev/null
  { rm -rf notes && ln -s ../elsewhere notes; } 2>/dev/null
done`;

test('a folder of any depth and without the right to write is replaced and removed', () => {
  const { root, at, put, read, remove } = folder();
  const deep = () => {
    put({});
    const script = `for (let n = 0; n < 1500; n++) {
      fs.mkdirSync('dddd'); process.chdir('dddd'); } fs.writeFileSync('x', ''); fs.chmodSync('.', 0o555);`;
    execFileSync(process.execPath, ['-e', script], { cwd: at('') });
    expect([...(read()?.refused.keys() ?? [])]).toEqual(['dddd/dddd/dddd/dddd']);
  };
  deep();
  put({ 'a.md': 'A' });
  expect(read()?.files).toEqual({ 'a.md': 'A' });
  deep();
  remove();
  expect(read()).toBeUndefined();
  expect(readdirSync(root)).toEqual(['task']);
});

test('a path that is none of a note is not written', () => {
  const { root, put, read } = folder();
  put({ '../../planted.md': 'x', '/planted.md': 'x', 'a.md': 'A' });
  expect(read()?.files).toEqual({ 'a.md': 'A' });
  expect(readdirSync(root)).toEqual(['task']);
});

test('many, large and unreadable files are limited', () => {
  const { at, put, read } = folder();
  put(Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`n${n}.md`, 'x'])));
  const many = read();
  expect(Object.keys(many?.files ?? {})).toHaveLength(100);
  expect(many?.refused.size).toBe(50);
  put({ 'small.md': 'x' });
  writeFileSync(at('large.md'), 'x'.repeat(32 * 1024 + 1));
  expect(read()?.refused.get('large.md')).toBe('it is too large');
  put(Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`n${n}.md`, 'x'.repeat(30_000)])));
  const sum = read();
  expect([Object.keys(sum?.files ?? {}).length, sum?.refused.size]).toEqual([4, 2]);
  put({});
  for (let n = 0; n < 1_100; n++) writeFileSync(at(`e${n}`), '');
  expect(read()).toMatchObject({ isWhole: false });
  put({ 'a.md': 'A' });
  chmodSync(at('a.md'), 0o000);
  expect(read()).toMatchObject({ isWhole: true });
});
