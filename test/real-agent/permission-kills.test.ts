// Checks that a kill decides nothing: a tool call happens once after "allow", and never after "deny".
import { describe, test } from 'vitest';
import { type Kill, playKills } from './asking-run.ts';
import { suiteAges } from './claude-sandbox.ts';
import { sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

/** The long form plays every combination on its own. */
const KILLS: readonly Kill[] = [
  { victim: 'raymond', word: 'allow', way: 'command' },
  { victim: 'serve', word: 'allow', way: 'api' },
  { victim: 'both', word: 'deny', way: 'api' },
  { victim: 'raymond', word: 'deny', way: 'command' },
  { victim: 'both', word: 'allow', way: 'api' },
];

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('kill -9 of Raymond, of serve and of both', () => playKills(sandbox, age, KILLS), 300_000);
});
