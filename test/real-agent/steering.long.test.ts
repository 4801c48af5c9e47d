// Every moment and every victim, with each way to start the agent: see steering.test.ts.
import { describe, test } from 'vitest';
import { ages } from './claude-sandbox.ts';
import { sandboxes } from './raymond-sandbox.ts';
import { type Blow, playBlow } from './steering-run.ts';

const sandbox = sandboxes();

const BLOWS: readonly Blow[] = [[], ['--no-warm'], ['--ask-permissions']].flatMap((flags) =>
  (['raymond', 'agent', 'both'] as const).flatMap((victim) =>
    (['unheard', 'heard'] as const).map((when) => ({ victim, when, flags })),
  ),
);

describe.each(ages)('with the %s Claude Code', (age) => {
  test.each(BLOWS)('$flags: words that are $when when $victim is killed', (blow) =>
    playBlow(sandbox, age, blow),
  );
});
