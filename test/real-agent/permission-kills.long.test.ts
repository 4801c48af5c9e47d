// Every combination of a kill, a decision and its way, each in a run of its own.
import { describe, test } from 'vitest';
import { playKills, VICTIMS, WAYS, WORDS } from './asking-run.ts';
import { ages } from './claude-sandbox.ts';
import { sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

const KILLS = VICTIMS.flatMap((victim) =>
  WORDS.flatMap((word) => WAYS.map((way) => ({ victim, word, way }))),
);

describe.each(ages)('with the %s Claude Code', (age) => {
  test.each(KILLS)(
    'kill -9 of $victim, then "$word" through the $way',
    (kill) => playKills(sandbox, age, [kill]),
    300_000,
  );
  test('all of them in one turn', () => playKills(sandbox, age, KILLS), 300_000);
});
