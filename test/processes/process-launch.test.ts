import { readdirSync, renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { plain, steps } from './fixtures/steps.ts';
import { launchTests } from './launch-tests.ts';

launchTests();

const { folder, bash, adopt } = steps();

test('when the exit file cannot be written, the exit code of the wrapper counts', async () => {
  const here = folder();
  const step = bash(FULL_DISK_FOR_RECORD, { folder: here, env: { ...plain.env, STEP: here } });
  expect(await step.ended).toEqual({ kind: 'exited', code: 7 });
  renameSync(`${here}/kept`, `${here}/${endFile(here)}`);
  expect(await adopt(here)?.ended).toEqual({ kind: 'unknown' });
});

/** Every write to /dev/full fails as on a full disk. */
const FULL_DISK_FOR_RECORD = `
file=$(echo "$STEP"/exit-*); mv "$file" "$STEP/kept"; ln -s /dev/full "$file"; exit 7`;

const endFile = (here: string) => readdirSync(here).find((name) => /^exit-\d+$/.test(name)) ?? '';
