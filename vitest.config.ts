import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: ['test/build-once.ts'],
    // A worker keeps its modules for the next file, because to load them again took a tenth of the
    // suite's time. So a test that changes the process undoes the change.
    isolate: false,
    // The tests wait for processes more than they compute: every core is used.
    maxWorkers: '100%',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
