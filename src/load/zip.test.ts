import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeZip, type ZipPart } from '../../test/zip-writer.ts';
import type { SourceFile } from '../model/source.ts';
import { UserError } from '../model/user-error.ts';
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
const other: ZipPart = { name: 'OTHER.md', content: 'Else.' };
const hiddenEntry = writeZip([other]).toString(
  'latin1',
  0,
  30 + 'OTHER.md'.length + 'Else.'.length,
);
const wideEnd = `PK\x06\x06${'\0'.repeat(52)}PK\x06\x07${'\0'.repeat(16)}`;

function secondName(name: string): Buffer {
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(5 + name.length, 2);
  field.writeUInt8(1, 4);
  return Buffer.concat([field, Buffer.from(name)]);
}

const many = Array.from({ length: 10_001 }, (_, i) => ({ name: `${i}.md` }));
const MiB = 1024 * 1024;

test.each<[string, string, Buffer]>([
  ['not a zip', 'bad-zip', Buffer.from('This is a text, and no archive at all.')],
  ['nothing', 'bad-zip', Buffer.alloc(0)],
  ['cut off at the end', 'bad-zip', writeZip([start]).subarray(0, -30)],
  ['cut off at the front', 'bad-zip', writeZip([start]).subarray(40)],
  [
    'an end record that announces more entries',
    'zip-inconsistent',
    writeZip([start], { entries: 2 }),
  ],
  [
    'an end record that announces fewer entries',
    'zip-inconsistent',
    writeZip([start, other], { entries: 1 }),
  ],
  [
    'an end record that announces no entries',
    'zip-inconsistent',
    writeZip([start], { entries: 0 }),
  ],
  ['one part of several', 'zip-inconsistent', writeZip([start, other], { here: 1 })],
  ['data before the first entry', 'zip-inconsistent', writeZip([start], { front: '#!/bin/sh\n' })],
  [
    'data before the first entry that offsets do not count',
    'zip-inconsistent',
    writeZip([start], { front: '#!/bin/sh\n', offsetsFrom: 'entries' }),
  ],
  ['two archives', 'zip-inconsistent', Buffer.concat([writeZip([other]), writeZip([start])])],
  [
    'an entry that the directory does not list',
    'zip-inconsistent',
    writeZip([start], { beforeDirectory: hiddenEntry }),
  ],
  ['a 64-bit end before the end', 'zip-inconsistent', writeZip([start], { beforeEnd: wideEnd })],
  ['data after the end', 'zip-inconsistent', writeZip([start], { back: 'more' })],
  [
    'an end record in the comment',
    'zip-inconsistent',
    writeZip([start], { comment: `PK\x05\x06${'\0'.repeat(30)}` }),
  ],
  [
    'another archive in the comment',
    'zip-inconsistent',
    writeZip([start], { comment: writeZip([other]).toString('latin1') }),
  ],
  [
    'another name in the local header',
    'zip-inconsistent',
    writeZip([{ ...start, local: { name: 'OTHER.md' } }]),
  ],
  [
    'another size in the local header',
    'zip-inconsistent',
    writeZip([{ ...start, local: { name: 'START.md', declaredSize: 2 } }]),
  ],
  [
    'another method in the local header',
    'zip-inconsistent',
    writeZip([{ ...start, local: { name: 'START.md', method: 8 } }]),
  ],
  [
    'encrypted only in the local header',
    'zip-inconsistent',
    writeZip([{ ...start, local: { name: 'START.md', flags: 0x801 } }]),
  ],
  ['a second name', 'zip-inconsistent', writeZip([{ ...start, extra: secondName('EVIL.md') }])],
  [
    'wrong sizes after the data',
    'zip-inconsistent',
    writeZip([{ ...start, flags: 8, descriptor: Buffer.alloc(16) }]),
  ],
  ['no sizes after the data', 'zip-inconsistent', writeZip([{ ...start, flags: 8 }])],
  [
    'a macOS file that leaves the folder',
    'zip-bad-name',
    writeZip([start, { name: '__MACOSX/../../START.md' }]),
  ],
  ['twice, in upper and lower case', 'zip-duplicate', writeZip([start, { name: 'start.MD' }])],
  [
    'twice, in two encodings',
    'zip-duplicate',
    writeZip([{ name: 'ä.md' }, { name: 'a\u0308.md' }]),
  ],
  ['a file and a folder of one name', 'zip-duplicate', writeZip([start, { name: 'START.md/' }])],
  ['a 64-bit end', 'zip-too-many', writeZip([start], { entries: 0xffff })],
  ['too many entries', 'zip-too-many', writeZip(many)],
  ['empty', 'zip-empty', writeZip([])],
  ['only directories', 'zip-empty', writeZip([{ name: 'a/', mode: 0o40755 }])],
  [
    'only files that macOS adds',
    'zip-empty',
    writeZip([{ name: '__MACOSX/._START.md' }, { name: '.DS_Store' }]),
  ],
  ['file beside folder', 'zip-mixed', writeZip([start, { name: 'a/B.md' }])],
  ['two folders', 'zip-mixed', writeZip([{ name: 'a/START.md' }, { name: 'b/START.md' }])],
  ['nested', 'zip-nested', writeZip([{ name: 'a/START.md' }, { name: 'a/b/C.md' }])],
  ['absolute', 'zip-bad-name', writeZip([start, { name: '/etc/X.md' }])],
  ['with a drive', 'zip-bad-name', writeZip([start, { name: 'C:X.md' }])],
  ['upwards', 'zip-bad-name', writeZip([start, { name: '../X.md' }])],
  ['a parent folder in the middle', 'zip-bad-name', writeZip([{ name: 'a/../X.md' }])],
  ['backslash', 'zip-bad-name', writeZip([{ name: 'a\\START.md' }])],
  ['NUL', 'zip-bad-name', writeZip([{ name: 'START\0.md' }])],
  ['no name', 'zip-bad-name', writeZip([{ name: '' }])],
  ['link', 'zip-link', writeZip([start, { name: 'X.md', content: '/etc/passwd', mode: 0o120777 }])],
  ['device', 'zip-link', writeZip([start, { name: 'X.md', mode: 0o020666 }])],
  ['encrypted', 'zip-encrypted', writeZip([{ ...start, flags: 1 }])],
  [
    'declares a size that is too large',
    'zip-too-large',
    writeZip([{ ...start, declaredSize: 300 * MiB }]),
  ],
  [
    'an archive that unpacks to more than it declares',
    'zip-too-large',
    writeZip([{ ...start, content: Buffer.alloc(64 * MiB), deflate: true, declaredSize: 10 }]),
  ],
  ['twice', 'zip-duplicate', writeZip([start, start])],
  ['wrong checksum', 'zip-damaged', writeZip([{ ...start, declaredCrc: 1 }])],
  ['shorter than declared', 'zip-damaged', writeZip([{ ...start, declaredSize: 7 }])],
  ['data that is not deflated', 'zip-damaged', writeZip([{ ...start, method: 8 }])],
  ['unknown method', 'zip-method', writeZip([{ ...start, method: 14 }])],
])('rejects: %s', async (_, code, archive) => {
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
  [
    'with files that macOS adds',
    [start, { name: '__MACOSX/._START.md' }, { name: '.DS_Store' }],
    ['START.md'],
  ],
  ['with an empty folder', [start, { name: 'a/b/' }], ['START.md']],
  ['umlauts', [{ name: 'Prüfung neu.md' }], ['Prüfung neu.md']],
  ['streamed', [{ ...start, flags: 8, descriptor: 'short' }, other], ['START.md', 'OTHER.md']],
  ['streamed, with a signature', [{ ...start, flags: 8, descriptor: 'signed' }], ['START.md']],
  ['streamed, with 64 bits', [{ ...start, flags: 8, descriptor: 'wide' }], ['START.md']],
  ['the same second name', [{ ...start, extra: secondName('START.md') }], ['START.md']],
  ['with files that are not states', [start, { name: 'table.csv' }], ['START.md', 'table.csv']],
])('reads: %s', async (_, parts, names) => {
  expect((await read(writeZip(parts))).map(({ name }) => name)).toEqual(names);
});

test('reads an archive with a comment', async () => {
  expect(await read(writeZip([start], { comment: 'made by hand' }))).toHaveLength(1);
});

test('no changed bit changes the contents: the archive is rejected, or reads the same', async () => {
  const parts: ZipPart[] = [start, { ...other, flags: 8, descriptor: 'signed', deflate: true }];
  const archive = writeZip(parts);
  // An archive has no checksum of the modes, which only convert uses.
  const contents = (files: unknown) =>
    JSON.stringify(files, (key, value) => (key === 'mode' ? undefined : value));
  const honest = contents(await read(archive));
  const path = join(folder, 'flipped.zip');
  for (let bit = 0; bit < archive.length * 8; bit++) {
    const flipped = Buffer.from(archive);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    await writeFile(path, flipped);
    const found = await readZip(path, 'x.zip').catch((error) => error);
    if (!(found instanceof UserError)) expect(contents(found), `bit ${bit}`).toBe(honest);
  }
});

test('unpacks the packed files', async () => {
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
