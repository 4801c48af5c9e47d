import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeZip, type ZipPart } from '../../test/zip-writer.ts';
import type { SourceFile } from '../model/source.ts';
import { readZip } from './zip.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'raymond-zip-'));
});
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
async function read(archive: Buffer): Promise<readonly SourceFile[]> {
  const path = join(folder, `${count++}.zip`);
  await writeFile(path, archive);
  return readZip(path, 'x.zip');
}

const start: ZipPart = { name: 'START.md', content: 'Begin.' };
const many = Array.from({ length: 10_001 }, (_, i) => ({ name: `${i}.md` }));
const MiB = 1024 * 1024;

test.each<[string, string, Buffer]>([
  ['no zip', 'bad-zip', Buffer.from('This is a text, and no archive at all.')],
  ['nothing', 'bad-zip', Buffer.alloc(0)],
  ['cut off at the end', 'bad-zip', writeZip([start]).subarray(0, -30)],
  ['cut off at the front', 'bad-zip', writeZip([start]).subarray(40)],
  ['a directory that promises more', 'bad-zip', writeZip([start], { entries: 2 })],
  ['a 64-bit end', 'zip-too-many', writeZip([start], { entries: 0xffff })],
  ['too many', 'zip-too-many', writeZip(many)],
  ['empty', 'zip-empty', writeZip([])],
  ['only directories', 'zip-empty', writeZip([{ name: 'a/', mode: 0o40755 }])],
  ['only clutter', 'zip-empty', writeZip([{ name: '__MACOSX/._START.md' }, { name: '.DS_Store' }])],
  ['file beside folder', 'zip-mixed', writeZip([start, { name: 'a/B.md' }])],
  ['two folders', 'zip-mixed', writeZip([{ name: 'a/START.md' }, { name: 'b/START.md' }])],
  ['nested', 'zip-nested', writeZip([{ name: 'a/START.md' }, { name: 'a/b/C.md' }])],
  ['absolute', 'zip-bad-name', writeZip([start, { name: '/etc/X.md' }])],
  ['with a drive', 'zip-bad-name', writeZip([start, { name: 'C:X.md' }])],
  ['upwards', 'zip-bad-name', writeZip([start, { name: '../X.md' }])],
  ['upwards inside', 'zip-bad-name', writeZip([{ name: 'a/../X.md' }])],
  ['backslash', 'zip-bad-name', writeZip([{ name: 'a\\START.md' }])],
  ['NUL', 'zip-bad-name', writeZip([{ name: 'START\0.md' }])],
  ['no name', 'zip-bad-name', writeZip([{ name: '' }])],
  ['link', 'zip-link', writeZip([start, { name: 'X.md', content: '/etc/passwd', mode: 0o120777 }])],
  ['device', 'zip-link', writeZip([start, { name: 'X.md', mode: 0o020666 }])],
  ['encrypted', 'zip-encrypted', writeZip([{ ...start, flags: 1 }])],
  ['declared too large', 'zip-too-large', writeZip([{ ...start, declaredSize: 300 * MiB }])],
  [
    'a bomb that lies',
    'zip-too-large',
    writeZip([{ ...start, content: Buffer.alloc(64 * MiB), deflate: true, declaredSize: 10 }]),
  ],
  ['twice', 'zip-duplicate', writeZip([start, start])],
  ['wrong sum', 'zip-damaged', writeZip([{ ...start, declaredCrc: 1 }])],
  ['wrong sum, streamed', 'zip-damaged', writeZip([{ ...start, declaredCrc: 1, flags: 8 }])],
  ['shorter than declared', 'zip-damaged', writeZip([{ ...start, declaredSize: 7 }])],
  ['not deflated', 'zip-damaged', writeZip([{ ...start, method: 8 }])],
  ['unknown method', 'zip-method', writeZip([{ ...start, method: 14 }])],
])('refuses: %s', async (_, code, archive) => {
  await expect(read(archive)).rejects.toMatchObject({
    name: 'UserError',
    code,
    message: expect.stringContaining('x.zip'),
    remedy: expect.stringMatching(/\.$/),
  });
});

test.each<[string, ZipPart[], string[]]>([
  ['flat', [start, { name: 'B.sh' }], ['START.md', 'B.sh']],
  ['in one folder', [{ name: 'w/', mode: 0o40755 }, { name: 'w/START.md' }], ['START.md']],
  ['with clutter', [start, { name: '__MACOSX/._START.md' }, { name: '.DS_Store' }], ['START.md']],
  ['with an empty folder', [start, { name: 'a/b/' }], ['START.md']],
  ['umlauts', [{ name: 'Prüfung neu.md' }], ['Prüfung neu.md']],
  ['no states', [start, { name: 'table.csv' }], ['START.md', 'table.csv']],
])('reads: %s', async (_, parts, names) => {
  expect((await read(writeZip(parts))).map(({ name }) => name)).toEqual(names);
});

test('unpacks what was packed', async () => {
  const content = 'Ä'.repeat(100_000);
  const [file] = await read(writeZip([{ name: 'START.md', content, deflate: true }]));
  const bytes = file && 'bytes' in file.content ? file.content.bytes : undefined;
  expect(new TextDecoder().decode(bytes) === content).toBe(true);
});

test('does not unpack a state that is too large', async () => {
  const content = Buffer.alloc(5 * MiB, 'a');
  const [file] = await read(writeZip([{ name: 'START.md', content, deflate: true }]));
  expect(file?.content).toMatchObject({ problem: expect.stringContaining('4 MiB') });
});
