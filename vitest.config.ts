import { availableParallelism } from 'node:os';
import { defaultExclude, defineConfig } from 'vitest/config';
import { isLong } from './test/long.ts';
import { SlowFilesFirst } from './test/slow-files-first.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts', 'page/**/*.test.ts'],
    // `npm run test:long` also runs these.
    exclude: [...defaultExclude, ...(isLong ? [] : ['**/*.long.test.ts'])],
    globalSetup: ['test/prepare.ts'],
    // A worker keeps its modules for the next file, because to load them again took a tenth of the
    // suite's time. So a test that changes the process undoes the change.
    isolate: false,
    // Tests wait for processes more than half of their time, so a core can serve several workers.
    maxWorkers: Math.ceil(1.5 * availableParallelism()) + 3,
    // A busy machine can be very slow, and what a test waits for has no other limit.
    sequence: { sequencer: SlowFilesFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 50_000 } },
  },
});
