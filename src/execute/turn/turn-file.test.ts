import { linkSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type TurnFile, turnSchema } from '../claude/records.ts';
import { stepSeals } from '../steps/step-seals.ts';
import { readTurnFile, writeTurnFile as writeTurn } from './turn-file.ts';

const seals = stepSeals(tmpdir());
const readTurn = (_: typeof seals, folder: string) => readTurnFile(seals, folder, turnSchema);

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'raymond-turn-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return join(made, 'steps', '1');
}

const first: TurnFile = { prompts: ['p1'], process: '/steps/1', offset: 0 };
const second: TurnFile = { prompts: ['p1', 'p2'], process: '/steps/1', offset: 7, model: 'haiku' };

test('a turn is read as it was written, and only its owner can read the file', async () => {
  const step = await folder();
  expect(readTurn(seals, step)).toBeUndefined();
  writeTurn(seals, step, first);
  expect(readTurn(seals, step)).toEqual(first);
  expect(statSync(join(step, 'turn.json')).mode & 0o777).toBe(0o600);
  expect(statSync(step).mode & 0o777).toBe(0o700);
});

// A hard link to the old file shows whether it was replaced or overwritten. A kill while a file is
// overwritten would lose the turn.
test('a turn is replaced atomically', async () => {
  const step = await folder();
  writeTurn(seals, step, first);
  linkSync(join(step, 'turn.json'), join(step, 'old'));
  writeTurn(seals, step, second);
  expect(readTurn(seals, step)).toEqual(second);
  expect(JSON.parse(readFileSync(join(step, 'old'), 'utf8'))).toMatchObject(first);
});

test.each(['', '{"prompts":["p1"]', '{"prompts":"p1","process":"/","offset":0}', 'null'])(
  'ignores %j, which is not a turn',
  async (text) => {
    const step = await folder();
    writeTurn(seals, step, first);
    await writeFile(join(step, 'turn.json'), text);
    expect(readTurn(seals, step)).toBeUndefined();
  },
);
