import { existsSync, linkSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stepSeals } from '../steps/step-seals.ts';
import { sessionNotesIn } from './records.ts';

const seals = stepSeals(tmpdir());

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'raymond-notes-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return join(made, 'sessions');
}

test('a note outlives its process, and only its owner can read it', async () => {
  const place = await folder();
  expect(sessionNotesIn(seals, place).read('s')).toBeUndefined();
  sessionNotesIn(seals, place).write('s', { ownModel: 'haiku', totalUsd: 0.5 });
  expect(sessionNotesIn(seals, place).read('s')).toEqual({ ownModel: 'haiku', totalUsd: 0.5 });
  expect(statSync(join(place, 's.json')).mode & 0o777).toBe(0o600);
  expect(statSync(place).mode & 0o777).toBe(0o700);
});

// A hard link to the old file shows whether it was replaced or overwritten.
test('a note is replaced atomically', async () => {
  const place = await folder();
  const notes = sessionNotesIn(seals, place);
  notes.write('s', { totalUsd: 1 });
  linkSync(join(place, 's.json'), join(place, 'old'));
  notes.write('s', { totalUsd: 2 });
  expect(JSON.parse(readFileSync(join(place, 'old'), 'utf8'))).toMatchObject({ totalUsd: 1 });
});

test('a note that cannot be written is still remembered by this process', async () => {
  const place = await folder();
  await writeFile(place, '');
  const notes = sessionNotesIn(seals, join(place, 'below a file'));
  notes.write('s', { checkpoint: 'c' });
  expect(notes.read('s')).toEqual({ checkpoint: 'c' });
});

test.each(['{"totalUsd":"much"}', '{"totalUs', '', 'null'])(
  'ignores %j, which is not a note',
  async (text) => {
    const place = await folder();
    sessionNotesIn(seals, place).write('s', {});
    await writeFile(join(place, 's.json'), text);
    expect(sessionNotesIn(seals, place).read('s')).toBeUndefined();
  },
);

test.each(['../outside', '/tmp/x', '', 'a\0b', 'x'.repeat(300)])(
  'a session called %j leads nowhere',
  async (session) => {
    const place = await folder();
    sessionNotesIn(seals, place).write(session, { ownModel: 'x' });
    expect(existsSync(place)).toBe(false);
    expect(sessionNotesIn(seals, place).read(session)).toBeUndefined();
  },
);
