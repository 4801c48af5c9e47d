import {
  appendFileSync,
  chownSync,
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  appendOwnFile,
  displaced,
  emptied,
  ForeignFile,
  makeOwnFile,
  type OwnFile,
  writeOwnFile,
} from './own-file.ts';
import { openRegularFile, readIfSmallSync } from './regular-file.ts';

function made() {
  const root = mkdtempSync(join(tmpdir(), 'raymond-own-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const at = (name: string) => join(root, name);
  mkdirSync(at('step'));
  const file: OwnFile = {
    path: at('step/stdout'),
    identity: writeOwnFile(at('step/stdout'), 'ours'),
  };
  writeFileSync(at('out'), 'theirs');
  return { at, file };
}

const read = (file: OwnFile) => readIfSmallSync(file, 100).bytes?.toString();

const others: readonly (readonly [string, (at: (name: string) => string) => void])[] = [
  ['moved over it', (at) => renameSync(at('out'), at('step/stdout'))],
  [
    'made again in its place',
    (at) => {
      rmSync(at('step/stdout'));
      copyFileSync(at('out'), at('step/stdout'));
    },
  ],
  [
    'in a folder that took the place of the other',
    (at) => {
      mkdirSync(at('other'));
      renameSync(at('out'), at('other/stdout'));
      renameSync(at('step'), at('kept'));
      renameSync(at('other'), at('step'));
    },
  ],
  [
    'linked to it',
    (at) => {
      rmSync(at('step/stdout'));
      linkSync(at('out'), at('step/stdout'));
    },
  ],
  [
    'a symbolic link, even to the very file',
    (at) => {
      renameSync(at('step/stdout'), at('moved'));
      symlinkSync(at('moved'), at('step/stdout'));
    },
  ],
  ['the very file with a second link', (at) => linkSync(at('step/stdout'), at('second'))],
  ['gone', (at) => rmSync(at('step/stdout'))],
];

test.each(others)('a file is not read if it is %s', async (_, act) => {
  const { at, file } = made();
  expect([read(file), displaced(file)]).toEqual(['ours', undefined]);
  act(at);
  expect(() => read(file)).toThrow();
  await expect(openRegularFile(file)).rejects.toThrow();
  expect(displaced(file)).toContain(file.path);
});

test('a file is read wherever its folders were meanwhile, and with what its writer has added', () => {
  const { at, file } = made();
  renameSync(at('step'), at('away'));
  appendFileSync(at('away/stdout'), ', more');
  renameSync(at('away'), at('step'));
  expect(read(file)).toBe('ours, more');
});

test.runIf(process.getuid?.() === 0)('a file of another user is not read', () => {
  const { at, file } = made();
  chownSync(at('step/stdout'), 65534, 65534);
  expect(() => read(file)).toThrow(ForeignFile);
});

// A file with the number of one that was removed is common: ext4 uses numbers again at once.
test('a file with the same inode is still another file', () => {
  const { file } = made();
  for (let tries = 0; tries < 20; tries++) {
    rmSync(file.path);
    const again = writeOwnFile(file.path, 'theirs');
    expect(again).not.toBe(file.identity);
  }
});

test.each([
  ['symbolic', symlinkSync],
  ['hard', linkSync],
])('nothing is written through a %s link', (_, link) => {
  const { at } = made();
  link(at('out'), at('step/answer'));
  for (const write of [
    () => writeOwnFile(at('step/answer'), 'x'),
    () => appendOwnFile(at('step/answer'), 'x'),
    () => closeSync(makeOwnFile(at('step/answer')).descriptor),
    () => emptied(at('step/answer')),
  ])
    expect(write).toThrow();
  expect(readFileSync(at('out'), 'utf8')).toBe('theirs');
});
